"""The members of a zip file, where every byte has to belong to one of them or to what lists them.

Readers of zip files look for the list at the end and take what it names: a file with something behind it, before it or
in it, or two that were joined, is as good to them as the whole. Here the list is at the very end, members follow each
other from the first byte on without a gap, and what the file says twice of a member has to be the same both times. A
member is not unpacked to a length that its packed bytes cannot have.
"""

import struct
import zlib
from typing import NamedTuple

LOCAL, ENTRY, END = struct.Struct('<4s5H3I2H'), struct.Struct('<4s6H3I5H2I'), struct.Struct('<4s4H2IH')
WIDE_END, LOCATOR = struct.Struct('<4sQ2H2I4Q'), struct.Struct('<4sIQI')
DESCRIPTORS = struct.Struct('<4s3I'), struct.Struct('<4sI2Q')
START, LISTED, LAST = b'PK\x03\x04', b'PK\x01\x02', b'PK\x05\x06'
WIDE_LAST, LOCATED, DESCRIBED = b'PK\x06\x06', b'PK\x06\x07', b'PK\x07\x08'
IN_64_BITS = 0xFFFFFFFF  # stands for a number that an extra field has in 64 bits
WIDE, EXTRA = 1, (1, 0x5455, 0x7875)  # that field, and those of programs that keep times and owners
STORED, DEFLATED = 0, 8
ZIP_VERSIONS = (10, 20, 45)  # of the zip format, that a member may need
DESCRIPTOR, FLAGS = 8, 0x80E  # lengths stand behind the member; it, the effort of packing, and names in UTF-8
MAX_DEFLATE_RATIO = 1032  # of deflate: no byte can become more
FIRST, PIECE = 1 << 16, 1 << 20  # bytes that are unpacked at a time, and packed ones that are looked at


class DamagedError(ValueError):
    """A zip file with something wrong in it."""


class Member(NamedTuple):
    """A member: where its bytes begin, and what the list says of them."""

    name: str
    start: int
    packed: int
    size: int
    crc: int
    method: int


def members_of(data):
    """The members by name, in the order of the file.

    Args:
        data: the whole file, as a memoryview.

    Raises:
        DamagedError, struct.error: this is no whole zip file, or more than one.
    """
    begin, end, count = _list_of(data)
    found, place, at = {}, 0, begin
    for _ in range(count):
        entry = ENTRY.unpack_from(data, at)
        names, extra, comment, disk, _, _, offset = entry[10:]
        at += ENTRY.size
        name, fields = bytes(data[at : at + names]), data[at + names : at + names + extra]
        at += names + extra
        if entry[0] != LISTED or at > end or comment or disk:
            raise DamagedError('its list of members is damaged')
        size, packed, offset = _widened((entry[9], entry[8], offset), fields)
        if offset != place:
            raise DamagedError('a member is not where it should be')
        member = Member(_decoded(name), 0, packed, size, entry[7], entry[4])
        member, place = _located(data, place, member, name, entry)
        if member.name in found:
            raise DamagedError(f'two members {member.name!a}')
        found[member.name] = member
    if at != end or place != begin:
        raise DamagedError('bytes that belong to no member')
    return found


def _list_of(data):
    """(where the list of members begins, where it ends, how many there are)."""
    last = len(data) - END.size
    if last < 0 or data[last : last + 4] != LAST:
        at = bytes(data[max(0, len(data) - (1 << 17)) :]).rfind(LAST)
        behind = min(len(data), 1 << 17) - at - END.size
        known = at >= 0 and behind > 0
        raise DamagedError(f'{behind} byte{"s" * (behind > 1)} behind its end' if known else 'its end is missing')
    _, disk, first_disk, here, count, size, begin, comment = END.unpack_from(data, last)
    if comment or disk or first_disk or here != count:
        raise DamagedError('its end is damaged')
    at = last - LOCATOR.size
    if at < 0 or data[at : at + 4] != LOCATED:
        end = last
    else:
        end = at - WIDE_END.size
        _, disk, where, disks = LOCATOR.unpack_from(data, at)
        mark, length, _, _, *zeros, here, count, size, begin = WIDE_END.unpack_from(data, max(0, end))
        fits = (mark, length, disk, disks, zeros) == (WIDE_LAST, WIDE_END.size - 12, 0, 1, [0, 0])
        if not fits or where != end or here != count:
            raise DamagedError('its end is damaged')
    if begin + size != end:
        raise DamagedError('its list of members is not where it should be')
    return begin, end, count


def _located(data, place, member, name, entry):
    """(the member with its beginning, where what is behind it begins); the same is said of it where it stands."""
    mark, version, flags, method, hour, day, crc, packed, size, names, extra = LOCAL.unpack_from(data, place)
    at = place + LOCAL.size + names + extra
    if mark != START or at > len(data):
        raise DamagedError('a member is not where it should be')
    size, packed = _widened((size, packed), data[at - extra : at])
    same = (flags, method, hour, day) == entry[3:7] and data[at - extra - names : at - extra] == name
    if not same or version not in ZIP_VERSIONS or entry[2] not in ZIP_VERSIONS or flags & ~FLAGS:
        raise DamagedError(f'member {member.name!a} is named and described twice, and not alike')
    if method not in (STORED, DEFLATED):
        raise DamagedError(f'compression {method}')
    told = member.crc, member.packed, member.size
    end = at + member.packed
    if flags & DESCRIPTOR and (crc, packed, size) in ((0, 0, 0), told):
        form = next((form for form in DESCRIPTORS if data[end : end + form.size] == _described(form, told)), None)
        if form is None:
            raise DamagedError(f'member {member.name!a} has other lengths behind it')
        end += form.size
    elif (crc, packed, size) != told:
        raise DamagedError(f'member {member.name!a} has two lengths or checksums')
    if member.size > MAX_DEFLATE_RATIO * member.packed or (method == STORED and member.size != member.packed):
        raise DamagedError(f'member {member.name!a} cannot have {member.size} bytes')
    return member._replace(start=at), end


def _described(form, told):
    try:
        return form.pack(DESCRIBED, *told)
    except struct.error:  # too long for the narrow form
        return None


def _widened(numbers, fields):
    """The numbers, those that are IN_64_BITS taken from the extra fields (bytes)."""
    wide, at = [], 0
    while at < len(fields):
        kind, length = struct.unpack_from('<2H', fields, at)
        at += 4 + length
        if at > len(fields) or kind not in EXTRA:
            raise DamagedError('a field of a member is damaged')
        if kind == WIDE:
            wide = list(struct.unpack(f'<{length // 8}Q', fields[at - length : at]))
    found = [wide.pop(0) if number == IN_64_BITS and wide else number for number in numbers]
    if wide:
        raise DamagedError('a field of a member is damaged')
    return found


def _decoded(name):
    return name.decode('utf-8', 'surrogateescape')


def pieces(data, member):
    """Yield the unpacked bytes of a member, at first not more than FIRST, then up to PIECE at a time.

    Raises:
        DamagedError, zlib.error: they have another length or checksum; known at the end.
    """
    crc = size = 0
    for piece in _unpacked(data[member.start : member.start + member.packed], member):
        crc, size = zlib.crc32(piece, crc), size + len(piece)
        if size > member.size:
            break
        yield piece
    if size != member.size or crc != member.crc:
        raise DamagedError(f'{member.name} has another length or checksum')


def _unpacked(packed, member):
    if member.method == STORED:
        yield packed[:FIRST]
        if len(packed) > FIRST:
            yield packed[FIRST:]
        return
    unpacker, at, most = zlib.decompressobj(-zlib.MAX_WBITS), 0, FIRST
    while not unpacker.eof:
        rest = unpacker.unconsumed_tail
        if not rest:
            rest, at = packed[at : at + PIECE], at + PIECE
        piece = unpacker.decompress(rest, most)
        if not piece and at >= len(packed) and not unpacker.unconsumed_tail and not unpacker.eof:
            return
        if piece:
            most = PIECE
            yield piece
    if unpacker.unused_data or at < len(packed):
        raise DamagedError(f'bytes behind the end of {member.name}')
