"""The page of gpulog profile, which a headless Chromium opens without a network."""
import html
import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

from command import REACH, TIMEOUT_SECONDS
from test_profile import EDGES, ProfileTest, seconds_of

BROWSER = shutil.which('chromium')


def pixels(path):
    """Rows of (r, g, b), of a PNG with 8 bits a channel and no interlacing."""
    with open(path, 'rb') as file:
        data = file.read()
    width, height, bits, color = struct.unpack('>IIBB', data[16:26])
    assert bits == 8 and color in (2, 6)
    size = 3 if color == 2 else 4
    packed, at = b'', 8
    while at < len(data):
        length = struct.unpack('>I', data[at:at + 4])[0]
        if data[at + 4:at + 8] == b'IDAT':
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(packed)
    stride = width * size
    before = bytearray(stride)
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride) if kind else ():
            left = row[i - size] if i >= size else 0
            above = before[i]
            corner = before[i - size] if i >= size else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above
            elif kind == 3:
                guess = (left + above) // 2
            else:
                estimate = left + above - corner
                _, _, guess = min((abs(estimate - left), 0, left), (abs(estimate - above), 1, above),
                                  (abs(estimate - corner), 2, corner))
            row[i] = (row[i] + guess) & 255
        before = row
        yield [tuple(row[i:i + 3]) for i in range(0, stride, size)]


@unittest.skipIf(BROWSER is None, 'there is no chromium')
class Page(ProfileTest):
    def browse(self, page, *options):
        # Processes of the browser may still write into the folder after the browser has ended.
        with tempfile.TemporaryDirectory(prefix='gpulog-', ignore_cleanup_errors=True) as home:
            return subprocess.run([BROWSER, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
                                   '--user-data-dir=' + home, '--proxy-server=127.0.0.1:9', *options,
                                   'file://' + self.path(page)], stdin=subprocess.DEVNULL, capture_output=True,
                                  check=True, text=True, errors='replace', timeout=TIMEOUT_SECONDS * 3).stdout

    def page_of(self, script='', before='', name='p.json'):
        """The page, with scripts of the test around its own."""
        self.assert_runs(self.run_gpulog('profile', name, '--html', 'p.html'))
        text = self.read('p.html')
        if script or before:
            text = text.replace('<body>', '<body><script>%s</script>' % before, 1)
            text = text.replace('</body>', '<script>%s</script></body>' % script, 1)
            self.write('p.html', text)
        return text

    def result_of(self, script, before=''):
        """What a test's script leaves in the body's data-result, as JSON."""
        self.page_of('document.body.dataset.result = JSON.stringify((() => { %s })());' % script, before)
        found = re.search(r'data-result="([^"]*)"', self.browse('p.html', '--dump-dom'))
        self.assertIsNotNone(found)
        return json.loads(html.unescape(found.group(1)))

    def test_three_runs(self):
        for example in ('java_points_to', 'taint', 'cspa'):
            with self.subTest(example=example):
                record = self.record_of(example)
                page = self.page_of()
                self.assertIsNone(re.search(r'(src|href)="(?!#)|@import|url\(|https?:', page.split('<script id=')[0]))
                dom = self.browse('p.html', '--dump-dom')
                self.assertIn('data-ready="true"', dom)
                self.assertIn('%s.dl</h1>' % example, dom)
                slowest = max((rule for stratum in record['strata'] for rule in stratum['rules']),
                              key=seconds_of)
                escaped = slowest['rule'].replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
                self.assertIn(escaped, dom.split('id="ruletable"')[1].split('</tr>')[1])
                lines = record['sources'][0]['text'].rstrip('\n').count('\n') + 1
                self.assertEqual(dom.split('<script id=')[0].count('class="row code'), lines)
                self.assertGreater(dom.split('<script id=')[0].count('class="box"'), 3)
                self.assertIn('<polyline', dom.split('<script id=')[0])

    def colours(self, *options):
        self.browse('p.html', '--screenshot=' + self.path('p.png'), '--window-size=900,1100', *options)
        counts = {}
        for row in pixels(self.path('p.png')):
            for colour in row:
                counts[colour] = counts.get(colour, 0) + 1
        return counts

    def test_screenshot(self):
        self.record_of('java_points_to')
        self.page_of()
        for options, paper in (([], (255, 255, 255)), (['--blink-settings=preferredColorScheme=0'], (20, 24, 28))):
            with self.subTest(options=options):
                counts = self.colours(*options)
                self.assertEqual(max(counts, key=counts.get), paper)
                self.assertGreater(len(counts), 100, 'there is next to nothing on the page')
                warm = sum(n for (r, g, b), n in counts.items() if r - b > 60 and r > g + 25 and g >= b)
                self.assertGreater(warm, 500, 'no rule is hot')
                blue = sum(n for (r, g, b), n in counts.items() if b - r > 30 and b > g)
                self.assertGreater(blue, 500, 'the flame view has no boxes')

    def test_sorting_and_keyboard(self):
        record = self.record_of('java_points_to')
        rules = [rule for stratum in record['strata'] for rule in stratum['rules']]
        found = self.result_of('''
            const result = {};
            const numbers = () => [...document.querySelectorAll('#ruletable tr.opens')].map((row) => Number(row.dataset.row));
            const key = (name) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
            result.bySeconds = numbers();
            document.querySelectorAll('#ruletable th button')[3].click();
            result.byCandidates = numbers();
            document.querySelectorAll('#ruletable th button')[3].click();
            result.byCandidatesUp = numbers();
            document.querySelector('#ruletable tr.opens').focus();
            key('ArrowDown');
            result.second = Number(document.activeElement.dataset.row);
            key('Enter');
            result.open = document.querySelectorAll('#ruletable td.plan').length;
            result.steps = document.querySelector('#ruletable td.plan').textContent;
            key('Enter');
            result.closed = document.querySelectorAll('#ruletable td.plan').length;
            const boxes = document.querySelectorAll('#flame .box');
            boxes[0].focus();
            key('ArrowRight');
            result.box = document.activeElement === boxes[1];
            const box = [...boxes].find((one) => Number(one.dataset.rule) >= 0);
            box.click();
            result.shown = [Number(box.dataset.rule), Number(document.activeElement.dataset.row)];
            result.links = [...document.querySelectorAll('nav a')].every((a) => document.querySelector(a.getAttribute('href')));
            return result;''')

        def value(name, rule):
            return seconds_of(rule) if name == 'seconds' else rule[name]

        def ordered(name, numbers):
            return [value(name, rules[number]) for number in numbers]
        for name, numbers, down in (('seconds', found['bySeconds'], True), ('candidates', found['byCandidates'], True),
                                    ('candidates', found['byCandidatesUp'], False)):
            self.assertEqual(ordered(name, numbers), sorted((value(name, rule) for rule in rules), reverse=down))
        self.assertEqual(found['second'], found['byCandidatesUp'][1])
        self.assertEqual((found['open'], found['closed']), (1, 0))
        self.assertIn(rules[found['second']]['location'], found['steps'])
        self.assertTrue(found['box'] and found['links'])
        self.assertEqual(found['shown'][0], found['shown'][1])

    def test_plan_has_the_steps(self):
        record = self.record_of('java_points_to')
        rules = [rule for stratum in record['strata'] for rule in stratum['rules']]
        slowest = max(rules, key=seconds_of)
        found = self.result_of('''document.querySelector('#ruletable tr.opens').click();
            return [...document.querySelectorAll('#ruletable td.plan tbody tr')].map((row) => row.firstChild.textContent.trim());''')
        self.assertEqual(found, [one['operator'] for one in slowest['operators']])

    def test_zoom(self):
        record = self.record_of('java_points_to')
        found = self.result_of('''
            const result = {};
            const boxes = () => [...document.querySelectorAll('#flame .box')];
            const width = (box) => parseFloat(box.style.width);
            const active = () => document.activeElement;
            const key = (name) => active().dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
            const before = boxes().length;
            const stratum = boxes().filter((box) => box.style.top === '24px').sort((a, b) => width(b) - width(a))[0];
            const name = stratum.textContent, left = (box) => parseFloat(box.style.left);
            const inside = (box) => left(box) >= left(stratum) - 0.01 && left(box) + width(box) <= left(stratum) + width(stratum) + 0.01;
            const rulesOf = (some) => some.map((box) => Number(box.dataset.rule)).filter((rule) => rule >= 0);
            const rules = rulesOf(boxes().filter(inside));
            stratum.click();
            result.zoomed = [active().textContent === name, width(active()), document.getElementById('zoomed').hidden];
            result.rulesStay = rules.every((rule) => rulesOf(boxes()).includes(rule));
            result.inside = boxes().every((box) => parseFloat(box.style.left) + width(box) <= 100.01);
            key('Escape');
            result.all = [boxes().length === before, active().textContent === name, document.getElementById('zoomed').hidden];
            const rule = boxes().find((box) => Number(box.dataset.rule) >= 0);
            rule.focus();
            key('z');
            result.rule = [active().textContent === rule.textContent, width(active())];
            document.querySelector('#zoomed button').click();
            result.back = [boxes().length === before, active().classList.contains('box')];
            return result;''')
        self.assertGreater(len(record['strata']), 1)
        self.assertEqual(found, {'zoomed': [True, 100, False], 'rulesStay': True, 'inside': True, 'all': [True, True, True],
                                 'rule': [True, 100], 'back': [True, True]})

    def test_marks_what_is_far_from_expected(self):
        self.assert_runs(self.run_program(REACH, '-p', 'p.json', facts=EDGES))
        record = json.loads(self.read('p.json'))
        rule = next(rule for stratum in record['strata'] for rule in stratum['rules'])
        rule.update(runs=2, counted_runs=2, seconds=1e9)
        for expected, rows, marks in ((100, 2001, 1), (100, 2000, 0), (100, 19, 1), (100, 20, 0), (0, 10, 0), (0, 11, 1)):
            rule['operators'] = [{'operator': 'for edge(x,y)', 'depth': 0, 'reads': True, 'expected': expected, 'rows': rows}]
            self.write_record(record)
            self.assertEqual(self.result_of('''document.querySelector('#ruletable tr.opens').click();
                return document.querySelectorAll('#ruletable td.plan td.far').length;'''), marks, (expected, rows))

    def test_texts_stay_texts(self):
        program = '.decl a(x:symbol)\n// </script><b id="bad">\na("</script><img id=bad><!--").\n.decl b(x:symbol)\n' \
                  'b(x) :- a(x), x != "<b id=bad>&amp;".\n.output b\n'
        self.assert_runs(self.run_program(program, '-p', 'p.json'))
        found = self.result_of('''document.querySelector('#ruletable tr.opens').click();
            return [document.querySelectorAll('#bad').length, document.querySelectorAll('.source .row').length,
                    document.querySelectorAll('.source .row')[4].lastChild.textContent];''')
        self.assertEqual(found, [0, 6, 'b(x) :- a(x), x != "<b id=bad>&amp;".'])

    def test_many_rules(self):
        """What the page does grows no faster than the program."""
        self.assert_runs(self.run_program(REACH, '-p', 'p.json', facts=EDGES))
        record = json.loads(self.read('p.json'))
        stratum = record['strata'][-1]
        work = []
        for rules in (2500, 10000):
            stratum['rules'] = [dict(stratum['rules'][0], rule='r%d(x) :- a(x).' % i, seconds=i * 1e-6,
                                     location='program.dl [%d:1-%d:9]' % (i + 1, i + 1)) for i in range(rules)]
            record['sources'] = [{'path': 'program.dl', 'text': ''.join('r%d(x) :- a(x).\n' % i for i in range(rules))}]
            self.write_record(record)
            before = '''window.calls = 0;
                for (const [type, name] of [[String, 'replace'], [Array, 'push'], [Map, 'get'], [Map, 'set']]) {
                  const original = type.prototype[name];
                  type.prototype[name] = function (...given) { ++window.calls; return original.apply(this, given); };
                }'''
            work.append(self.result_of('''return [window.calls, document.getElementsByTagName('*').length,
                document.querySelectorAll('#ruletable tr.opens').length];''', before))
        (calls, elements, rows), (more_calls, more_elements, more_rows) = work
        self.assertLess(more_calls, 4.5 * calls)
        self.assertLess(more_elements, 4.5 * elements)
        self.assertEqual(rows, more_rows)


if __name__ == '__main__':
    unittest.main()
