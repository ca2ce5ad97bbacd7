"""Links from the programs of a document to the playground (docs/playground.md), which open the program with its files."""
import base64
import json
import re
import zlib

BLOCK = re.compile(r'^```(\S+)\n(.*?)^```\n', re.M | re.S)
NO_LIBRARIES = '<p class="run">Not in the playground: a browser loads no libraries of functors.</p>'


def needs_libraries(program):
    return bool(re.search(r'^\.functor', program, re.M))


def fragment_of(program, files):
    """Returns the fragment that playground/page/link.js reads."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps({'program': program, 'files': files}).encode()) + packer.flush()
    return '#p=' + base64.urlsafe_b64encode(packed).decode().rstrip('=')


def programs_of(markdown):
    """Yields the end of each block with a program, the program, and the files that follow it."""
    blocks = list(BLOCK.finditer(markdown))
    starts = [number for number, block in enumerate(blocks) if block[1] == 'datalog']
    for start, end in zip(starts, [*starts[1:], len(blocks)]):
        files = {block[1]: block[2] for block in blocks[start + 1:end] if '.' in block[1]}
        yield blocks[start].end(), blocks[start][2], files


def with_links(markdown, playground):
    """Returns the document with a link below each program.

    playground: the address of the page, from the document
    """
    parts, begin = [], 0
    for end, program, files in programs_of(markdown):
        link = '<p class="run"><a href="%s%s" target="_blank">Run</a></p>' % (playground, fragment_of(program, files))
        if needs_libraries(program):
            link = NO_LIBRARIES
        parts += [markdown[begin:end], '\n', link, '\n\n']
        begin = end
    return ''.join(parts) + markdown[begin:]
