"""Made-up notes with their topics, as LIBSVM multilabel lines: generate.py NOTES SEED > FILE

Six topics: each brings words of its own and some that it shares with the next. A second topic comes with the first more
often where the two are neighbours, and the last one never comes with the first two: what a label says about the others.
"""

import sys

import numpy as np

TOPICS = ('garden', 'kitchen', 'market', 'money', 'work', 'travel')
WORDS, PER_TOPIC = 90, 20  # words in all, and those of a topic, of which five are the next one's too


def topics_of(rng):
    """One to three topics (numbers)."""
    first = int(rng.integers(len(TOPICS)))
    found = {first}
    if rng.random() < 0.7:
        found.add((first + 1) % 5)
    if rng.random() < 0.2:
        found.add(int(rng.integers(len(TOPICS))))
    return found - {5} if found & {0, 1} else found


def notes(count, seed):
    """The lines of that many notes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        topics = topics_of(rng)
        words = rng.integers(WORDS, size=rng.integers(8, 16)).tolist()  # noise, and then words of the topics
        for topic in sorted(topics):
            words += (topic * (PER_TOPIC - 5) + rng.integers(PER_TOPIC, size=rng.integers(1, 7))).tolist()
        counts = np.bincount(words, minlength=WORDS + PER_TOPIC)
        named = ','.join(TOPICS[topic] for topic in sorted(topics))
        yield named + ' ' + ' '.join(f'{word + 1}:{counts[word]}' for word in np.flatnonzero(counts))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: generate.py NOTES SEED > FILE')
    for line in notes(int(sys.argv[1]), int(sys.argv[2])):
        print(line)
