#!/usr/bin/env python3
"""scripts/install in a copy of the clone's folders, with scripts instead of built commands."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYSTEM = '/usr/bin:/bin'
TIMEOUT_SECONDS = 60


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='gpulog-install-')
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.home, self.clone = self.path('home of Ada'), self.path('clone of gpulog')
        os.makedirs(self.home)
        os.makedirs(os.path.join(self.clone, 'scripts'))
        shutil.copy(os.path.join(ROOT, 'scripts', 'install'), os.path.join(self.clone, 'scripts'))
        self.bin = os.path.join(self.home, '.local', 'bin')
        self.link = os.path.join(self.bin, 'gpulog')

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write_command(self, *names, printed='gpulog 0.2.0', seconds=1000):
        path = self.path(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\necho %s\n' % printed)
        os.chmod(path, 0o755)
        os.utime(path, (seconds, seconds))
        return path

    def build(self, name, seconds=1000):
        return self.write_command(self.clone, 'build', name, 'gpulog', seconds=seconds)

    def install(self, *arguments, status=0, path=SYSTEM):
        process = subprocess.run([os.path.join(self.clone, 'scripts', 'install'), *arguments], cwd=self.folder,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                 timeout=TIMEOUT_SECONDS, env={'HOME': self.home, 'PATH': path})
        self.assertEqual(process.returncode, status, process.stderr)
        return process.stdout + process.stderr

    def state_of_link(self):
        state = os.lstat(self.link)
        return state.st_ino, state.st_mode, state.st_mtime_ns

    def assert_is_refused(self):
        before = self.state_of_link()
        self.assertEqual(self.install(status=1), 'Error: %s exists and is not gpulog: remove the file, or name another '
                         'folder: scripts/install FOLDER\n' % self.link)
        self.assertEqual(self.state_of_link(), before)

    def test_link_and_path(self):
        self.assertEqual(self.install(status=1), 'Error: no command is built: run scripts/demo first\n')
        self.assertFalse(os.path.exists(self.bin))
        built = self.build('demo')
        created = '%s is a link to %s\n' % (self.link, built)
        hint = ('Shells do not search %s. Add this line to ~/.profile and log in again:\n  export PATH="%s:$PATH"\n' %
                (self.bin, self.bin))
        for _ in range(2):
            self.assertEqual(self.install(), created + hint)
            self.assertEqual(os.readlink(self.link), built)
        self.assertEqual(self.install(path=self.bin + ':' + SYSTEM), created)
        other = self.write_command('other', 'gpulog')
        self.assertEqual(self.install(path='%s:%s:%s' % (os.path.dirname(other), self.bin, SYSTEM)),
                         created + 'Shells find another command first: %s\n' % other)

    def test_the_newest_build(self):
        self.build('demo', 1000)
        newer = self.build('release', 2000)
        self.install()
        self.assertEqual(os.readlink(self.link), newer)
        newest = self.build('package', 3000)
        self.install()
        self.assertEqual(os.readlink(self.link), newest)
        # The link is replaced even if its build is gone.
        shutil.rmtree(os.path.dirname(newest))
        self.install()
        self.assertEqual(os.readlink(self.link), newer)

    def test_a_named_folder(self):
        built = self.build('demo')
        self.install('tools/bin')
        self.assertEqual(os.readlink(self.path('tools', 'bin', 'gpulog')), built)
        self.assertFalse(os.path.exists(self.bin))

    def test_other_gpulog_commands_are_replaced(self):
        built = self.build('demo')
        self.write_command(self.link)
        self.install()
        self.assertEqual(os.readlink(self.link), built)
        os.remove(self.link)
        copy = self.write_command('copy', 'gpulog')
        os.symlink(copy, self.link)
        self.install()
        self.assertEqual(os.readlink(self.link), built)
        self.assertTrue(os.path.isfile(copy) and not os.path.islink(copy))

    def test_what_is_not_gpulog_stays(self):
        self.build('demo')
        self.write_command(self.link, printed='another tool 1.0')
        self.assert_is_refused()
        with open(self.link, 'w', encoding='utf-8') as file:
            file.write('notes')
        os.chmod(self.link, 0o644)
        self.assert_is_refused()
        os.remove(self.link)
        os.symlink('nowhere', self.link)
        self.assert_is_refused()
        os.remove(self.link)
        os.mkdir(self.link)
        self.assert_is_refused()


if __name__ == '__main__':
    unittest.main()
