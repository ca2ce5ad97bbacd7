#!/usr/bin/env python3
"""The Python package of a build, as pip makes it: its wheel, its tests, its types, and what pip configures in a clone. Run by
Python of build/python.

  GPULOG_BUILD=build/emulated build/python/bin/python tests/package/python_package.py wheel|tests|types|clone

The wheel is made with the library that the build has: to compile gpulog again would take minutes. CMAKE and CXX name the
programs that made it, GPULOG_LAUNCHER what compilers are called with.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get('GPULOG_BUILD', os.path.join(ROOT, 'build/release')))
PACKAGES = os.path.join(BUILD, 'python')  # where the wheel is installed for the tests


def run(*command, **variables):
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, env={**os.environ, **variables})


def pip(*arguments, **variables):
    run(sys.executable, '-m', 'pip', '--disable-pip-version-check', '--quiet', *arguments, **variables)


def wheel():
    with tempfile.TemporaryDirectory(prefix='gpulog-wheel-') as folder:
        prefix = os.path.join(folder, 'installed')
        run(os.environ.get('CMAKE', 'cmake'), '--install', BUILD, '--prefix', prefix, '--component', 'development')
        # One unit without optimization: a third of the time of what users build.
        defined = {'CMAKE_PREFIX_PATH': prefix, 'CMAKE_CXX_COMPILER_LAUNCHER': os.environ.get('GPULOG_LAUNCHER', ''),
                   'CMAKE_UNITY_BUILD': 'ON', 'CMAKE_CXX_FLAGS_RELEASE': '-O0'}
        options = [word for name, value in defined.items() for word in ('-C', 'cmake.define.%s=%s' % (name, value))]
        pip('wheel', ROOT, '--no-deps', '--no-build-isolation', '--wheel-dir', folder, '-C', 'cmake.source-dir=python',
            '-C', 'build.targets=gpulog_python',
            '-C', 'build-dir=' + os.path.join(BUILD, 'wheel'), *options)
        made, = glob.glob(os.path.join(folder, '*.whl'))
        shutil.rmtree(PACKAGES, ignore_errors=True)
        pip('install', '--no-deps', '--no-index', '--target', PACKAGES, made)


def tests():
    run(sys.executable, '-m', 'pytest', '-q', 'python/tests', PYTHONPATH=PACKAGES, GPULOG_ROOT=ROOT)


def types():
    run(sys.executable, '-m', 'mypy', '--no-incremental', '--cache-dir', os.devnull, 'python/gpulog')


def settings():
    with open(os.path.join(ROOT, 'pyproject.toml'), 'rb') as file:
        return tomllib.load(file)['tool']['scikit-build']


def configure(folder, *options):
    """As pip does, with what pyproject.toml defines. @return exit status and what was printed"""
    defined = settings()['cmake']['define'] | {'SKBUILD': 'ON', 'SKBUILD_SCRIPTS_DIR': '/scripts'}
    process = subprocess.run(
        [os.environ.get('CMAKE', 'cmake'), '-G', 'Ninja', '-S', ROOT, '-B', folder, '-DGPULOG_GPU=off',
         '-DCMAKE_CXX_COMPILER=' + os.environ.get('CXX', 'c++'), '-DPython_EXECUTABLE=' + sys.executable,
         *('-D%s=%s' % define for define in defined.items()), *options],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return process.returncode, process.stdout + process.stderr


def clone():
    """Configured alone: to build all of gpulog again would take minutes."""
    with tempfile.TemporaryDirectory(prefix='gpulog-clone-') as folder:
        status, printed = configure(folder)
        assert status == 0, printed
        commands = subprocess.run([os.environ.get('CMAKE', 'cmake'), '--build', folder, '--', '-t', 'commands',
                                   *settings()['build']['targets']],
                                  capture_output=True, text=True, check=True).stdout
        for part, is_needed in (('gpulog_engine.dir/', True), ('/python/src/', True), ('/gpulog.dir/', True), ('/tests/', False)):
            assert (part in commands) == is_needed, part
        # The wheel has the command.
        with open(os.path.join(folder, 'python', 'cmake_install.cmake'), encoding='utf-8') as file:
            assert '"/scripts/gpulog"' in file.read()
    with tempfile.TemporaryDirectory(prefix='gpulog-clone-') as folder:
        status, printed = configure(folder, '-DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON', '-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON')
        assert status != 0 and 'apt-get install libtbb-dev libfmt-dev' in ' '.join(printed.split()), printed


if __name__ == '__main__':
    {'wheel': wheel, 'tests': tests, 'types': types, 'clone': clone}[sys.argv[1]]()
