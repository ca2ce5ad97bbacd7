#!/usr/bin/env python3
"""Installs the build into a folder, as a user would, and builds and runs programs with what is there.

  GPULOG_BUILD=build/emulated python3 tests/package/test_package.py [TEST...]

GPULOG_SHARED names a shared library of the same build, CMAKE and CXX the programs that made it, GPULOG_ARROW says whether it
was built with Apache Arrow.
"""
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CONSUMER = os.path.join(HERE, 'consumer')
SERVICE = os.path.join(ROOT, 'examples', 'service')
HEADERS = os.path.join(ROOT, 'include', 'gpulog')
TIMEOUT_SECONDS = 300
PRINTED = 'Linz -> Salzburg\nVienna -> Linz\nVienna -> Salzburg\n'
PROGRAM = '.decl a(x:number)\na(1).\n.output a\n'

BUILD = os.path.abspath(os.environ.get('GPULOG_BUILD', os.path.join(ROOT, 'build/release')))
CMAKE = os.environ.get('CMAKE', 'cmake')
CXX = os.environ.get('CXX', 'c++')
SHARED = os.environ.get('GPULOG_SHARED')


def run(*command, folder=None, status=0, **variables):
    process = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                             timeout=TIMEOUT_SECONDS, env={**os.environ, **variables})
    if status is not None and process.returncode != status:
        raise AssertionError('%s: exit status %d\n%s%s' % (' '.join(command), process.returncode, process.stdout,
                                                           process.stderr))
    return process.stdout


def project_version():
    """As CMake and pkg-config compare versions."""
    with open(os.path.join(ROOT, 'CMakeLists.txt'), encoding='utf-8') as file:
        return re.search(r'^project\(gpulog VERSION (\d+\.\d+\.\d+)', file.read(), re.M)[1]


def whole_version():
    """As gpulog prints it: with "-dev" between releases."""
    with open(os.path.join(ROOT, 'CMakeLists.txt'), encoding='utf-8') as file:
        return project_version() + re.search(r'^set\(GPULOG_VERSION "\$\{PROJECT_VERSION\}(.*)"\)', file.read(), re.M)[1]


def files_below(folder):
    return {os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='gpulog-package-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def check_consumer(self, program, **variables):
        lines = run(program, **variables).splitlines(keepends=True)
        self.assertEqual(''.join(sorted(lines[:-1])), PRINTED)
        self.assertEqual(lines[-1], 'gpulog %s\n' % whole_version())


class Installed(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.parent = tempfile.mkdtemp(prefix='gpulog-installed-')
        cls.addClassCleanup(shutil.rmtree, cls.parent)
        first = os.path.join(cls.parent, 'first')
        run(CMAKE, '--install', BUILD, '--prefix', first)
        # Nothing in it may say where it was installed.
        cls.prefix = os.path.join(cls.parent, 'second')
        os.rename(first, cls.prefix)
        cls.package, = glob.glob(os.path.join(cls.prefix, 'lib*', '**', 'gpulog-config.cmake'), recursive=True)
        cls.library_folder = os.path.dirname(os.path.dirname(os.path.dirname(cls.package)))

    def test_headers_are_those_of_the_interface(self):
        self.assertEqual(files_below(os.path.join(self.prefix, 'include')),
                         {'gpulog.h'} | {os.path.join('gpulog', name) for name in os.listdir(HEADERS)})

    def test_files_name_no_folder_of_the_build(self):
        for name in files_below(self.prefix):
            if not name.endswith(('.cmake', '.pc', '.hpp', '.h', '.1')):
                continue
            with open(os.path.join(self.prefix, name), encoding='utf-8') as file:
                text = file.read()
            for folder in (ROOT, BUILD, os.path.join(self.parent, 'first')):
                self.assertNotIn(folder, text, name)
            # Nor the folder of a CUDA toolkit.
            self.assertNotRegex(text, r'/[^ "]*/cuda', name)

    def test_consumer_by_cmake(self):
        """Without a CUDA toolkit, of which the library brings what a program needs."""
        run(CMAKE, '-G', 'Ninja', '-S', CONSUMER, '-B', self.path('build'), '-DCMAKE_CXX_COMPILER=' + CXX,
            '-DCMAKE_PREFIX_PATH=' + self.prefix, '-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON')
        run(CMAKE, '--build', self.path('build'))
        self.check_consumer(self.path('build', 'consumer'))

    def test_example_of_a_service(self):
        with open(os.path.join(SERVICE, 'README.md'), encoding='utf-8') as file:
            shown = re.findall(r'^```text\n(.*?)^```$', file.read(), re.M | re.S)
        run(CMAKE, '-G', 'Ninja', '-S', SERVICE, '-B', self.path('build'), '-DCMAKE_CXX_COMPILER=' + CXX,
            '-DCMAKE_PREFIX_PATH=' + self.prefix)
        run(CMAKE, '--build', self.path('build'))
        feed = os.path.join(SERVICE, 'feeds', 'morning.txt')
        printed = run(self.path('build', 'service'), feed)
        self.assertEqual(printed, shown[-1])
        # A line that is wrong and a file that is missing do not end the service.
        with open(self.path('wrong.txt'), 'w', encoding='utf-8') as file:
            file.write('up gateway web\nsideways a b\n')
        process = subprocess.run([self.path('build', 'service'), self.path('wrong.txt'), self.path('missing.txt')],
                                 capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.stdout, 'lost db\nlost mail\nlost web\nafter a batch of 1\nfound web\n')
        self.assertEqual(sorted(process.stderr.splitlines()),
                         ['cannot open ' + self.path('missing.txt'), 'not understood: sideways a b'])

    def test_consumer_by_pkg_config(self):
        variables = {'PKG_CONFIG_PATH': os.path.join(self.library_folder, 'pkgconfig')}
        self.assertEqual(run('pkg-config', '--modversion', 'gpulog', **variables), project_version() + '\n')
        flags = run('pkg-config', '--cflags', '--libs', 'gpulog', **variables).split()
        run(CXX, '-std=c++20', os.path.join(CONSUMER, 'consumer.cpp'), '-o', self.path('consumer'), *flags)
        self.check_consumer(self.path('consumer'), LD_LIBRARY_PATH=self.library_folder)

    def test_older_standards_are_refused(self):
        with open(self.path('old.cpp'), 'w', encoding='utf-8') as file:
            file.write('#include <gpulog/engine.hpp>\n')
        process = subprocess.run([CXX, '-std=c++17', '-fsyntax-only', '-I', os.path.join(self.prefix, 'include'),
                                  self.path('old.cpp')], capture_output=True, text=True, check=False)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn('error: "gpulog needs C++20: compile with -std=c++20"' if 'clang' in CXX else
                      'error: #error "gpulog needs C++20: compile with -std=c++20"', process.stderr)

    def test_versions_that_fit(self):
        major, minor, patch = map(int, project_version().split('.'))
        script = self.path('ask.cmake')
        with open(script, 'w', encoding='utf-8') as file:
            file.write('set(CMAKE_SIZEOF_VOID_P 8)\nstring(REPLACE "." ";" parts ${PACKAGE_FIND_VERSION})\n'
                       'list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)\nlist(GET parts 1 PACKAGE_FIND_VERSION_MINOR)\n'
                       'include(%s)\nmessage("${PACKAGE_VERSION} ${PACKAGE_VERSION_COMPATIBLE}")\n'
                       % self.package.replace('-config.', '-config-version.'))
        for wanted, fits in (((major, minor, 0), True), ((major, minor, patch + 1), False), ((major, minor + 1, 0), False),
                             ((major + 1, minor, 0), False)):
            wanted = '.'.join(map(str, wanted))
            process = subprocess.run([CMAKE, '-DPACKAGE_FIND_VERSION=' + wanted, '-P', script], capture_output=True,
                                     text=True, check=True)
            self.assertEqual(process.stderr.split(), [project_version(), 'TRUE' if fits else 'FALSE'], wanted)

    def test_command(self):
        with open(self.path('program.dl'), 'w', encoding='utf-8') as file:
            file.write(PROGRAM)
        command = os.path.join(self.prefix, 'bin', 'gpulog')
        self.assertEqual(run(command, 'program.dl', folder=self.folder), '')
        with open(self.path('a.csv'), encoding='utf-8') as file:
            self.assertEqual(file.read(), '1\n')
        self.assertEqual(run(command, '--version').splitlines()[0], 'gpulog ' + whole_version())
        # An executable that it makes needs nothing of the installation.
        run(command, 'program.dl', '-o', 'program', folder=self.folder)
        self.assertIn('\n1\n', run(self.path('program'), '-D-', folder=self.folder))

    @unittest.skipUnless(os.environ.get('GPULOG_ARROW') == 'ON', 'skipped: built without Apache Arrow')
    def test_command_finds_the_library_of_arrow(self):
        with open(self.path('program.dl'), 'w', encoding='utf-8') as file:
            file.write(PROGRAM.replace('.output a', '.output a(IO=parquet)'))
        run(os.path.join(self.prefix, 'bin', 'gpulog'), 'program.dl', folder=self.folder)
        with open(self.path('a.parquet'), 'rb') as file:
            self.assertEqual(file.read(4), b'PAR1')

    @unittest.skipUnless(os.environ.get('GPULOG_MPI') == 'ON', 'skipped: built without MPI')
    def test_library_of_ranks_is_installed(self):
        self.assertEqual([os.path.basename(path) for path in glob.glob(os.path.join(self.prefix, 'lib', '**', 'libgpulog_mpi*'),
                                                                       recursive=True)], ['libgpulog_mpi.so'])

    def test_pages_are_installed(self):
        for name in ('man/man1/gpulog.1', 'bash-completion/completions/gpulog', 'zsh/vendor-completions/_gpulog',
                     'fish/vendor_completions.d/gpulog.fish'):
            self.assertTrue(os.path.isfile(os.path.join(self.prefix, 'share', name)), name)


class Shared(InFolder):
    def test_shows_the_interface_alone(self):
        shown = run('nm', '-DC', '--defined-only', SHARED).splitlines()
        self.assertTrue(shown)
        interface = re.compile(r'(?:typeinfo (?:name )?for |vtable for )?gpulog::(?!detail::)\w+')
        namespaces = {name for name in os.listdir(os.path.join(ROOT, 'src'))}
        for line in shown:
            name = line.split(maxsplit=2)[2]
            if name.startswith('gpulog_'):  # of gpulog.h
                continue
            self.assertTrue(interface.match(name), line)
            self.assertNotIn(re.search(r'gpulog::(\w+)', name)[1], namespaces - {'engine'}, line)

    def test_consumer(self):
        run(CXX, '-std=c++20', '-I', os.path.dirname(HEADERS), os.path.join(CONSUMER, 'consumer.cpp'), SHARED, '-o',
            self.path('consumer'))
        self.check_consumer(self.path('consumer'), LD_LIBRARY_PATH=os.path.dirname(SHARED))
        major, minor, _ = project_version().split('.')
        self.assertIn('libgpulog.so.%s.%s\n' % (major, minor), run('objdump', '-p', self.path('consumer')))


WARNING = '''Warning: Soufflé has no functor to_upper in file program.dl at line 2
a(to_upper("x")).
--^---------------
A functor of a library can do this; .functor declares one
'''


class C(InFolder):
    """gpulog.h, from C and from another language."""
    PRINTED = '''Error: Undefined relation b in file program.dl at line 3
b(2).
^-----
1 errors generated, evaluation aborted
there is no option job, did you mean 'jobs'?
warnings: ''
relation road has 3 attributes, but 2 columns were given
x:symbol y:symbol 3 rows
Linz Salzburg
Vienna Linz
Vienna Salzburg
p:record f:float 2 rows
["Linz", 130] 0.5
["Vienna", 180] 0.5
x:symbol y:symbol 1 rows
Linz Salzburg
x:symbol 1 rows
Salzburg
x:symbol y:symbol 0 rows
x:symbol y:symbol 2 rows
Vienna Linz
Vienna Salzburg
The state none cannot be used: the engine has facts already
results cannot be stored after a query or a change of the program
x:symbol y:symbol 0 rows
'''

    def test_program_in_c(self):
        run('cc', '-std=c99', '-Wall', '-Wextra', '-pedantic', '-Werror', '-I', os.path.dirname(HEADERS),
            os.path.join(CONSUMER, 'consumer.c'), SHARED, '-o', self.path('consumer'))
        lines = run(self.path('consumer'), LD_LIBRARY_PATH=os.path.dirname(SHARED)).splitlines(keepends=True)
        # The order of rows is not defined.
        for head, line in enumerate(lines):
            if line.endswith(' rows\n'):
                end = head + 1 + int(line.split()[-2])
                lines[head + 1:end] = sorted(lines[head + 1:end])
        self.assertEqual(''.join(lines), self.PRINTED + 'gpulog %s\n' % whole_version())

    def test_another_language(self):
        class Text(ctypes.Structure):
            _fields_ = [('bytes', ctypes.c_char_p), ('length', ctypes.c_size_t)]

        class Column(ctypes.Structure):
            _fields_ = [('type', ctypes.c_int), ('values', ctypes.c_void_p)]

        library = ctypes.CDLL(SHARED)
        library.gpulog_message.restype = library.gpulog_version.restype = ctypes.c_char_p
        library.gpulog_rows_size.restype = ctypes.c_uint64
        self.assertEqual(library.gpulog_version().decode(), whole_version())

        def call(name, *arguments, status=0):
            self.assertEqual(getattr(library, name)(*arguments), status, library.gpulog_message())

        program, engine, rows, column = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), Column()
        text = b'.decl a(s:symbol, x:number)\n.decl b(x:number, s:symbol)\nb(x * 2, s) :- a(s, x).\n'
        options = (ctypes.c_char_p * 3)(b'word_size=64', b'filled=a', None)
        call('gpulog_program_from_text', text, options, ctypes.byref(program))
        call('gpulog_engine_new', program, options, ctypes.byref(engine))
        texts, numbers = (Text * 2)(Text(b'one', 3), Text(b'two', 3)), (ctypes.c_int64 * 2)(2**40, 5)
        given = (Column * 2)(Column(6, ctypes.cast(texts, ctypes.c_void_p)), Column(3, ctypes.cast(numbers, ctypes.c_void_p)))
        call('gpulog_insert', engine, b'a', given, 2, ctypes.c_uint64(2))
        call('gpulog_evaluate', engine)
        call('gpulog_query', engine, b'b(x, s), x > 10', ctypes.byref(rows))
        library.gpulog_program_report.restype = ctypes.c_char_p
        portable, extended = ctypes.c_void_p(), b'.decl a(s:symbol)\na(to_upper("x")).\n.output a\n'
        for value, shown in ((b'portable=0', b''), (b'portable=1', WARNING.encode())):
            call('gpulog_program_from_text', extended, (ctypes.c_char_p * 2)(value, None), ctypes.byref(portable))
            self.assertEqual(library.gpulog_program_report(portable), shown)
        call('gpulog_program_from_text', extended, (ctypes.c_char_p * 2)(b'portable=yes', None), ctypes.byref(portable), status=2)
        self.assertEqual(library.gpulog_message(), b"portable has no value 'yes'")
        self.assertEqual(library.gpulog_rows_size(rows), 1)
        call('gpulog_rows_column', rows, 0, ctypes.byref(column))
        self.assertEqual((column.type, ctypes.cast(column.values, ctypes.POINTER(ctypes.c_int64))[0]), (3, 2**41))
        call('gpulog_rows_column', rows, 1, ctypes.byref(column))
        shown = ctypes.cast(column.values, ctypes.POINTER(Text))[0]
        self.assertEqual((column.type, shown.bytes, shown.length), (6, b'one', 3))
        call('gpulog_rows_column', rows, 2, ctypes.byref(column), status=2)
        self.assertEqual(library.gpulog_message(), b'there is no column 2')
        call('gpulog_relation', engine, b'c', ctypes.byref(rows), status=2)
        self.assertEqual(library.gpulog_message(), b"There is no relation c")


class Subfolder(InFolder):
    def test_is_part_of_another_project(self):
        """Configured alone: to build all of gpulog again would take minutes."""
        build = self.path('build')
        run(CMAKE, '-G', 'Ninja', '-S', CONSUMER, '-B', build, '-DCMAKE_CXX_COMPILER=' + CXX, '-DGPULOG_SOURCES=' + ROOT,
            '-DGPULOG_GPU=off', '-DGPULOG_ARROW=OFF')
        # What the program is made of: the library, and neither the command nor tests.
        commands = run(CMAKE, '--build', build, '--', '-t', 'commands', 'consumer')
        self.assertIn('libgpulog.a', commands)
        everything = run(CMAKE, '--build', build, '--', '-t', 'commands')
        self.assertIn('/src/engine/', everything)
        self.assertNotIn('/src/cli/', everything)
        self.assertNotIn('/tests/unit/', everything)


class Pages(InFolder):
    PAGES = os.path.join(BUILD, 'pages')

    def page(self, name):
        path = os.path.join(self.PAGES, name)
        with open(path, encoding='utf-8') as file:
            return path, file.read()

    def options(self):
        text = run(os.path.join(BUILD, 'gpulog'), '--help')
        return {name for names in re.findall(r'^  (-[\w,-]+)', text, re.M) for name in names.split(',')}

    def test_manual_page(self):
        path, text = self.page('gpulog.1')
        self.assertIn(whole_version(), text)
        self.assertEqual(run('groff', '-man', '-ww', '-z', '-Tutf8', path), '')
        shown = run('groff', '-man', '-Tascii', '-P-cbou', path)
        for name in self.options():
            self.assertRegex(shown, r'(?m)^ .*(?<![\w-])%s\b' % re.escape(name))
        for usage in ('gpulog fmt [option ...] file ...', 'gpulog lint [option ...] file ...', 'gpulog lsp [option ...]',
                      'gpulog profile [option ...] record [record]', 'gpulog test [option ...] [path ...] [-- option ...]'):
            self.assertIn(usage, shown)
        for option in ('--html FILE', '--check'):
            self.assertIn(option, shown)

    def completed_by_bash(self, *words):
        path, _ = self.page('gpulog.bash')
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpulog; printf "%s\\n" "${COMPREPLY[@]}"'
        return run('bash', '-c', script, 'bash', path, 'gpulog', *words, folder=self.folder).split()

    def completed_by_fish(self, line):
        path, _ = self.page('gpulog.fish')
        printed = run('fish', '-N', '-c', 'source $argv[1]; complete -C $argv[2]', path, 'gpulog ' + line,
                      folder=self.folder, HOME=self.folder)
        return [word.split('\t')[0] for word in printed.splitlines()]

    def test_bash(self):
        self.assertEqual(set(self.completed_by_bash('-')), self.options())
        self.assertEqual(self.completed_by_bash('--back'), ['--backend'])
        self.assertEqual(self.completed_by_bash('--backend', ''), ['auto', 'cpu', 'gpu'])
        self.assertEqual(self.completed_by_bash('--show', 'initial-ast,transformed-r'), ['initial-ast,transformed-ram'])
        self.assertEqual(self.completed_by_bash('--tune', 'magic-s'), ['magic-sets='])
        for name in ('program.dl', 'other.txt'):
            with open(self.path(name), 'w', encoding='utf-8'):
                pass
        os.mkdir(self.path('facts'))
        self.assertEqual(self.completed_by_bash(''), ['fmt', 'lint', 'lsp', 'profile', 'test', 'program.dl', 'facts'])
        self.assertEqual(self.completed_by_bash('-w', ''), ['program.dl', 'facts'])
        self.assertEqual(self.completed_by_bash('profile', '--h'), ['--help', '--html'])
        self.assertEqual(self.completed_by_bash('profile', 'oth'), ['other.txt'])
        self.assertEqual(self.completed_by_bash('fmt', '--d'), ['--diff'])
        self.assertEqual(self.completed_by_bash('fmt', 'p'), ['program.dl'])
        self.assertEqual(self.completed_by_bash('fmt', 'oth'), [])
        self.assertEqual(self.completed_by_bash('lsp', 'p'), [])
        self.assertEqual(self.completed_by_bash('lsp', '--s'), ['--stdio'])
        self.assertEqual(self.completed_by_bash('-F', ''), ['facts'])

    def test_fish(self):
        self.assertEqual(self.completed_by_fish('--back'), ['--backend'])
        self.assertEqual(self.completed_by_fish('--backend '), ['auto', 'cpu', 'gpu'])
        self.assertEqual(self.completed_by_fish('--show initial-ast,transformed-r'), ['initial-ast,transformed-ram'])
        self.assertEqual(self.completed_by_fish('--tune magic-s'), ['magic-sets='])
        self.assertIn('profile', self.completed_by_fish('pro'))
        self.assertIn('--check', self.completed_by_fish('fmt --ch'))
        self.assertIn('--html', self.completed_by_fish('profile --ht'))
        self.assertLessEqual({name for name in self.options() if name.startswith('--')}, set(self.completed_by_fish('--')))
        self.assertLessEqual({name for name in self.options() if len(name) == 2}, set(self.completed_by_fish('-')))

    def test_zsh(self):
        """Its completions need a terminal: the specifications are handed over, and read back."""
        path, text = self.page('_gpulog')
        run('zsh', '-n', path)
        script = '_arguments() { print -rl -- "$@" }; source $1'
        given = run('zsh', '-f', '-c', script, 'zsh', path).splitlines()
        found = {re.match(r'(?:\*|\([^)]*\))(-[\w-]+)', line)[1] for line in given if '[' in line}
        self.assertEqual(found, self.options())
        self.assertIn('(--backend)--backend=[auto, cpu or gpu]:NAME:(auto cpu gpu)', given)
        self.assertTrue(text.startswith('#compdef gpulog\n'))


class Debian(InFolder):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='gpulog-package-')
        cls.addClassCleanup(folder.cleanup)
        run(os.path.join(os.path.dirname(shutil.which(CMAKE)), 'cpack'), '-G', 'DEB', '-B', folder.name,
            '-D', 'CPACK_DEBIAN_COMPRESSION_TYPE=gzip', folder=BUILD, DEBFULLNAME='A packager', DEBEMAIL='packager@debian.org')
        cls.packages = sorted(glob.glob(os.path.join(folder.name, '*.deb')))

    def test_one_package_for_users_and_one_for_developers(self):
        of_ranks = ['gpulog-mpi'] if os.environ.get('GPULOG_MPI') == 'ON' else []
        self.assertEqual([os.path.basename(path).split('_')[0] for path in self.packages],
                         [*of_ranks, 'gpulog', 'libgpulog-dev'])

    @unittest.skipUnless(shutil.which('lintian'), 'skipped: no lintian')
    def test_lintian_finds_no_errors(self):
        run('lintian', '--allow-root', '--fail-on', 'error', *self.packages)

    def test_package_of_the_command(self):
        package, = [path for path in self.packages if os.path.basename(path).startswith('gpulog_')]
        fields = dict(re.findall(r'^(\S+): (.*)$', run('dpkg-deb', '-f', package), re.M))
        self.assertEqual(fields['Package'], 'gpulog')
        self.assertEqual(fields['Version'], whole_version().replace('-', '~') + '-1')
        for needed in ('libc6', 'libtbb12', 'libfmt9', 'libsqlite3-0', 'libzstd1', 'zlib1g'):
            self.assertRegex(fields['Depends'], r'(^|, )%s\b' % needed)
        run('dpkg-deb', '-x', package, self.path('root'))
        self.assertEqual({name for name in files_below(self.path('root'))},
                         {'usr/bin/gpulog', 'usr/share/man/man1/gpulog.1.gz', 'usr/share/bash-completion/completions/gpulog',
                          'usr/share/zsh/vendor-completions/_gpulog', 'usr/share/fish/vendor_completions.d/gpulog.fish',
                          'usr/share/doc/gpulog/copyright', 'usr/share/doc/gpulog/changelog.gz',
                          'usr/share/doc/gpulog/changelog.Debian.gz'})
        self.assertIn('gpulog %s\n' % whole_version(), run(self.path('root/usr/bin/gpulog'), '--version'))


if __name__ == '__main__':
    sys.exit(unittest.main())
