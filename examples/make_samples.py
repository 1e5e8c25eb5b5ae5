"""How the samples in this folder were made: make_samples.py DATA writes them anew.

DATA is a folder with the original corpora:
    ud_english_ewt/en_ewt-ud-train.conllu.gz, en_ewt-ud-test.conllu    UD English EWT (CC BY-SA 4.0)
    ner_wnut17/wnut17train.conll                                       WNUT-17 (CC BY 4.0)
    fashion_mnist/{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz      Fashion-MNIST (MIT)
    gum_constituency/const/GUM_{news,interview}_*.ptb                  GUM (CC BY 2.5, annotations CC BY 4.0)

Sentences are taken at a fixed distance (every 8th and so on), so that every genre is represented. The test part of the
entities is every 4th message of WNUT-17's training part, and their training part the other messages: WNUT-17's own
development and test parts come from other places and have other entities by design. Two columns are added that a
template can use: the last three letters of the word, and its shape (Xx for Word, d for 2026, Xd for B52). The
dependency trees come as they are, comments included. Of GUM there are the sentences of 3 to 10 words, one tree a line;
those of HELD_OUT, documents for development and testing, are the test part.
"""

import gzip
import re
import sys
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
HELD_OUT = {
    *('interview_cyclone', 'interview_gaming', 'interview_hill', 'interview_libertarian'),
    *('news_homeopathic', 'news_iodine', 'news_nasa', 'news_sensitive'),
}


def sentences(path):
    """Blocks of non-blank lines."""
    with (gzip.open if path.suffix == '.gz' else open)(path, 'rt', encoding='utf-8') as lines:
        block = []
        for line in lines:
            if line.strip():
                block.append(line.rstrip('\n').split('\t'))
            elif block:
                yield block
                block = []
        if block:
            yield block


def pos_rows(block):
    """(word, UPOS) of the words of a CoNLL-U sentence: no comments, no ranges, no empty nodes."""
    return [(fields[1], fields[3]) for fields in block if fields[0].isdigit()]


def ner_rows(block):
    return [(fields[0], fields[1]) for fields in block]


def shape(word):
    for pattern, letter in ((r'[^\W\d_]', 'x'), (r'\d', 'd')):
        word = re.sub(pattern, lambda match, letter=letter: 'X' if match[0].isupper() else letter, word)
    return re.sub(r'(.)\1+', r'\1', word)


def write_columns(target, blocks, rows):
    with open(target, 'w', encoding='utf-8', newline='\n') as stream:
        for block in blocks:
            for word, tag in rows(block):
                print(word, word[-3:].lower(), shape(word), tag, file=stream)
            print(file=stream)


def write_sentences(target, blocks):
    with open(target, 'w', encoding='utf-8', newline='\n') as stream:
        for block in blocks:
            stream.writelines('\t'.join(fields) + '\n' for fields in block)
            print(file=stream)


def is_free(path):
    """Whether a document of GUM is from Wikinews."""
    return path.stem.split('_')[1] in ('news', 'interview')


def write_brackets(target, documents):
    """Trees whose number of words is from 3 to 10."""
    with open(target, 'w', encoding='utf-8', newline='\n') as stream:
        for path in documents:
            for text in re.split(r'^(?=\(ROOT)', path.read_text(encoding='utf-8'), flags=re.MULTILINE):
                if 3 <= len(re.findall(r'[^\s()]\)', text)) <= 10:
                    print(*text.split(), file=stream)


def write_images(target, pixels, labels, distance):
    """Every distance-th image, four pixels averaged into one (14 x 14), in 16 grey levels from 0 to 1."""
    with gzip.open(pixels) as stream:
        images = stream.read()[16:]
    with gzip.open(labels) as stream:
        classes = stream.read()[8:]
    with open(target, 'wb') as raw, gzip.GzipFile(fileobj=raw, mode='wb', mtime=0, filename='') as stream:
        for number in range(0, len(classes), distance):
            image = images[784 * number : 784 * (number + 1)]
            row = [str(classes[number])]
            for at in range(196):
                corner = 56 * (at // 14) + 2 * (at % 14)
                level = sum(image[corner + step] for step in (0, 1, 28, 29)) // 64
                if level:
                    row.append(f'{at + 1}:{level / 15:.3g}')
            stream.write((' '.join(row) + '\n').encode())


def main(data):
    ewt, wnut, fashion = data / 'ud_english_ewt', data / 'ner_wnut17', data / 'fashion_mnist'
    train, test = ewt / 'en_ewt-ud-train.conllu.gz', ewt / 'en_ewt-ud-test.conllu'
    write_columns(HERE / 'pos' / 'train.txt', islice(sentences(train), 0, None, 8), pos_rows)
    write_columns(HERE / 'pos' / 'test.txt', islice(sentences(test), 0, None, 5), pos_rows)
    write_sentences(HERE / 'trees' / 'train.conllu', islice(sentences(train), 0, None, 25))
    write_sentences(HERE / 'trees' / 'test.conllu', islice(sentences(test), 0, None, 20))
    documents = sorted((data / 'gum_constituency' / 'const').glob('GUM_*.ptb'))
    for name, held in (('train', False), ('test', True)):
        chosen = [path for path in documents if is_free(path) and (path.stem[4:] in HELD_OUT) == held]
        write_brackets(HERE / 'phrases' / f'{name}.ptb', chosen)
    messages = list(sentences(wnut / 'wnut17train.conll'))
    write_columns(HERE / 'ner' / 'train.txt', (block for k, block in enumerate(messages) if k % 4 != 1), ner_rows)
    write_columns(HERE / 'ner' / 'test.txt', messages[1::4], ner_rows)
    for name, part, distance in (('train', 'train', 60), ('test', 't10k', 20)):
        files = (fashion / f'{part}-{kind}-ubyte.gz' for kind in ('images-idx3', 'labels-idx1'))
        write_images(HERE / 'images' / f'{name}.svm.gz', *files, distance)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
