#!/usr/bin/env python3
"""Generates the manual page and the completions for bash, zsh and fish from the output of `gpulog --help`.

  command_pages.py GPULOG FOLDER     writes gpulog.1, gpulog.bash, _gpulog and gpulog.fish to FOLDER
"""
import collections
import os
import re
import subprocess
import sys

SECTION = re.compile(r'^(\S.*):$')
# "  -F,--fact-dir,--facts DIR   folder ...", "  --show LIST ...   print ..."; the description may start on the next
# line.
OPTION = re.compile(r'^  (?P<names>-[\w,-]+)(?: (?P<value>[A-Z][A-Z:]*))?(?P<repeated> \.\.\.)?(?:\s+(?P<text>\S.*))?$')
CONTINUED = re.compile(r'^ {20,}(\S.*)$')
# Values listed at the end of a description: "auto, cpu or gpu", "bits of ...: 32 or 64".
VALUES = re.compile(r'^(?:.*: )?([\w-]+(?:, [\w-]+)*(?:, | or )[\w-]+)$')
# A command with options of its own: `gpulog profile`.
Command = collections.namedtuple('Command', 'name operands files summary title text')
FOLDERS = ('DIR',)
FILES = ('FILE',)
LISTS = ('LIST',)  # separated by commas


class Option:
    def __init__(self, section, match, tuning):
        self.section = section
        self.names = match['names'].split(',')
        self.value = match['value']
        self.is_repeatable = bool(match['repeated'])
        self.text = match['text'] or ''
        self.tuning = tuning

    @property
    def values(self):
        if '--tune' in self.names:
            return self.tuning
        found = VALUES.match(self.text) if self.value else None
        return re.split(', | or ', found[1]) if found else []


def printed_by(gpulog, *arguments):
    return subprocess.run([gpulog, *arguments], check=True, capture_output=True, encoding='utf-8').stdout


def options_of(gpulog, *command):
    tuning = [line.split()[0] + '=' for line in printed_by(gpulog, '--tune', 'help').splitlines()[1:] if line[:1].isalpha()]
    options, section = [], ''
    for line in printed_by(gpulog, *command, '--help').splitlines():
        title, option, more = SECTION.match(line), OPTION.match(line), CONTINUED.match(line)
        if title:
            section = title[1]
        elif option:
            options.append(Option(section, option, tuning))
        elif more and options:
            options[-1].text = (options[-1].text + ' ' + more[1]).strip()
    if not options:
        sys.exit('%s --help names no options' % gpulog)
    return options


# ---- manual page ------------------------------------------------------------------------------------------------------

ABOUT = '''gpulog evaluates a Datalog program and writes the relations that it names as output. Programs, fact files, flags and
results are those of Soufflé. It runs on the cores of a CPU, or on a GPU where the build has a backend for it and one is
there.

With --query, it prints what holds. Without a program, on a terminal, it asks for a program and queries.

Without -D, results are written into the working directory; the facts of .input relations are read from there without -F.'''
COMMANDS = (
    Command('fmt', 'file ...', '*.dl', 'format programs', 'FORMAT OF PROGRAMS',
            '\'gpulog fmt\' rewrites programs in one canonical form. It fails for a program with syntax errors, which stays unchanged.'),
    Command('lint', 'file ...', '*.dl', 'warn about programs', 'WARNINGS ABOUT PROGRAMS',
            '\'gpulog lint\' warns about programs that are valid but probably not as intended. It reads no facts.'),
    Command('lsp', '', '', 'serve an editor', 'LANGUAGE SERVER',
            '\'gpulog lsp\' serves an editor over standard input and output, in the Language Server Protocol.'),
    Command('profile', 'record [record]', '*', 'show the record of a run', 'PROFILES OF RUNS',
            '\'gpulog profile\' shows the record of a run that -p wrote, or compares two records.'),
    Command('test', '[path ...] [-- option ...]', '*.dl', 'test programs', 'TESTS OF PROGRAMS',
            '\'gpulog test\' checks what programs compute: the comments of NAME.test.dl, or the outputs in a folder '
            '\'expected\'. Options after -- are options of the runs.'),
)
STATUS = '''0 if the program was run and all results are written; 1 for an error in the program, the facts or the options, and for a
run that failed: no output file of the run exists then. 128 and the number of the signal, if a signal ended the run.'''
EXAMPLES = (('Run a program on the facts in a folder, and print the results:', 'gpulog program.dl -F facts -D-'),
            ('Use all cores, at most 4 GB, and say how long it takes:', 'gpulog program.dl -j auto --memory-limit 4G -v'),
            ('Make an executable of a program:', 'gpulog program.dl -o program'))


def roff(text):
    text = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')
    text = re.sub('[^\0-\x7f]', lambda c: '\\[u%04X]' % ord(c[0]), text)
    return re.sub(r'^\.', r'\\&.', text, flags=re.M)


def roff_paragraphs(text):
    return '\n.PP\n'.join(roff(paragraph) for paragraph in text.split('\n\n'))


def option_paragraph(option):
    value = ' \\fI%s\\fR' % roff(option.value) if option.value else ''
    return ['.TP', ', '.join('\\fB%s\\fR' % roff(name) for name in option.names) + value, roff(option.text)]


def manual_page(options, of_commands, version):
    lines = ['.\\" Made from what gpulog --help prints.', '.TH GPULOG 1 "" "gpulog %s" "User Commands"' % version,
             '.SH NAME', roff('gpulog - run Datalog programs on CPUs and GPUs'),
             '.SH SYNOPSIS', '.B gpulog', '.RI [ option " ...] " program.dl']
    for command in of_commands:
        operands = re.sub(r'\w+', r'\\fI\g<0>\\fR', command.operands)
        lines += ['.br', '.B gpulog ' + command.name, ('[\\fIoption\\fR ...] ' + operands).strip()]
    lines += ['.SH DESCRIPTION', roff_paragraphs(ABOUT)]
    section = None
    for option in options:
        if option.section != section:
            section = option.section
            lines += ['.SH OPTIONS'] if section == 'Options' else ['.SS ' + roff(section)]
        lines += option_paragraph(option)
    for command, own_options in of_commands.items():
        lines += ['.SH "%s"' % command.title, roff(command.text)]
        for option in own_options:
            lines += option_paragraph(option)
    lines += ['.SH "EXIT STATUS"', roff_paragraphs(STATUS), '.SH EXAMPLES']
    for text, command in EXAMPLES:
        lines += ['.PP', roff(text), '.PP', '.RS 4', '.nf', roff(command), '.fi', '.RE']
    return '\n'.join(lines) + '\n'


# ---- completions ------------------------------------------------------------------------------------------------------

BASH = '''# Completion of gpulog for bash. Made from what gpulog --help prints.
_gpulog() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} listed
  COMPREPLY=()
%(of_commands)s
  case $before in
%(cases)s
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '%(names)s' -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <([[ $COMP_CWORD -gt 1 ]] || compgen -W '%(commands)s' -- "$current"
                             compgen -f -X '!*.dl' -- "$current"; compgen -d -- "$current")
  fi
}
complete -F _gpulog gpulog
'''


BASH_COMMAND = '''  if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} == %(name)s ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W '%(options)s' -- "$current"; compgen -f -X '!%(files)s' -- "$current"
                             compgen -d -- "$current")
    return
  fi'''


def bash_case(option):
    words = "mapfile -t COMPREPLY < <(compgen %s -- \"$current\")"
    if option.values and option.value in LISTS:
        action = ['listed=${current%"${current##*,}"}',
                  'compopt -o nospace 2>/dev/null',
                  "mapfile -t COMPREPLY < <(compgen -P \"$listed\" -W '%s' -- \"${current##*,}\")" % ' '.join(option.values)]
    elif option.values:
        action = ['compopt -o nospace 2>/dev/null'] if option.values[0].endswith('=') else []
        action.append(words % ("-W '%s'" % ' '.join(option.values)))
    elif option.value in FOLDERS + FILES:
        action = ['compopt -o filenames 2>/dev/null', words % ('-d' if option.value in FOLDERS else '-f')]
    else:
        action = []
    return '\n'.join(['    %s)' % ' | '.join(option.names), *('      ' + line for line in action), '      return',
                      '      ;;'])


def names_of(options):
    return ' '.join(name for option in options for name in option.names)


def bash_completion(options, of_commands):
    return BASH % {'cases': '\n'.join(bash_case(option) for option in options if option.value),
                   'names': names_of(options), 'commands': ' '.join(command.name for command in of_commands),
                   'of_commands': '\n'.join(BASH_COMMAND % {'name': command.name, 'options': names_of(own_options),
                                                            'files': command.files}
                                            for command, own_options in of_commands.items())}


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_specification(option):
    text = re.sub(r'([\[\]:\\])', r'\\\1', option.text)
    exclusive = '*' if option.is_repeatable else '(%s)' % ' '.join(option.names)
    argument = ''
    if option.value:
        if option.values and option.value in LISTS:
            action = '_values -s , %s %s' % (option.value, ' '.join(option.values))
        elif option.values and option.values[0].endswith('='):
            action = '{compadd -S "" -- %s}' % ' '.join(option.values)
        elif option.values:
            action = '(%s)' % ' '.join(option.values)
        else:
            action = {'DIR': '_files -/', 'FILE': '_files'}.get(option.value, ' ')
        argument = ':%s:%s' % (option.value.replace(':', '\\:'), action)
    # The value may be part of the word: -j4, --jobs=4.
    def name_of(name):
        return name if not option.value else name + ('=' if name.startswith('--') else '+')
    return [quoted(exclusive) + quoted('%s[%s]%s' % (name_of(name), text, argument)) for name in option.names]


def zsh_completion(options, of_commands):
    def lines_of(some):
        return ['  %s \\' % line for option in some for line in zsh_specification(option)]
    def lines_of_command(command, own_options):
        files = ["  '*:%s:_files -g \"%s\"'" % (re.search(r'\w+', command.operands)[0], command.files)] if command.files else []
        return ['if (( CURRENT > 2 )) && [[ $words[2] == %s ]]; then' % command.name, '  shift words', '  (( CURRENT-- ))',
                '  _arguments -S : \\', *lines_of(own_options), *files, '  return', 'fi']
    return '\n'.join(['#compdef gpulog', '# Completion of gpulog for zsh. Made from what gpulog --help prints.', '',
                      *(line for command, own_options in of_commands.items()
                        for line in lines_of_command(command, own_options)),
                      '(( CURRENT == 2 )) && compadd ' + ' '.join(command.name for command in of_commands),
                      '_arguments -S : \\', *lines_of(options), "  '*:program:_files -g \"*.dl\"'"]) + '\n'


def fish_line(option, condition=''):
    parts = ['complete -c gpulog' + condition]
    for name in option.names:
        parts.append(('-l ' if name.startswith('--') else '-s ') + name.lstrip('-'))
    if option.values and option.value in LISTS:
        parts.append("-x -a '(__fish_append , %s)'" % ' '.join(option.values))
    elif option.values:
        parts.append("-x -a '%s'" % ' '.join(option.values))
    elif option.value in FOLDERS:
        parts.append("-x -a '(__fish_complete_directories)'")
    elif option.value in FILES:
        parts.append('-r -F')
    elif option.value:
        parts.append('-x')
    return ' '.join([*parts, '-d', "'" + option.text.replace('\\', '\\\\').replace("'", "\\'") + "'"])


def fish_completion(options, of_commands):
    return '\n'.join(['# Completion of gpulog for fish. Made from what gpulog --help prints.',
                      "complete -c gpulog -k -f -a '(__fish_complete_suffix .dl)'",
                      *("complete -c gpulog -n __fish_use_subcommand -a %s -d '%s'" % (command.name, command.summary)
                        for command in of_commands),
                      *(fish_line(option) for option in options),
                      *(fish_line(option, " -n '__fish_seen_subcommand_from %s'" % command.name)
                        for command, own_options in of_commands.items() for option in own_options)]) + '\n'


def main(gpulog, folder):
    options = options_of(gpulog)
    of_commands = {command: options_of(gpulog, command.name) for command in COMMANDS}
    version = printed_by(gpulog, '--version').splitlines()[0].split()[1]
    os.makedirs(folder, exist_ok=True)
    for name, text in (('gpulog.1', manual_page(options, of_commands, version)),
                       ('gpulog.bash', bash_completion(options, of_commands)), ('_gpulog', zsh_completion(options, of_commands)),
                       ('gpulog.fish', fish_completion(options, of_commands))):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
