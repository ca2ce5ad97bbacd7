#include "syntax/preprocessor.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "parsing.hpp"

namespace gpulog::syntax {
namespace {

TEST(macros, without_arguments) {
  EXPECT_EQ(printed("#define N 5\na(N)."), "a(5).\n");
  EXPECT_EQ(printed("#define N 5\n#undef N\na(N)."), "a(N).\n");
  EXPECT_EQ(printed("#define N 5\na(\"N\", NN, xN). // N\n/* N */"), "a(\"N\", NN, xN).\n");
  EXPECT_EQ(printed("#define EMPTY\na(EMPTY 1 EMPTY)."), "a(1).\n");
  EXPECT_EQ(printed("#define B ?b\na(?x, B)."), "a(?x, ?b).\n");
  EXPECT_EQ(printed("#define BODY b(x), \\\n  c(x) // comment\na(x) :- BODY."), "a(x) :- b(x), c(x).\n");
  EXPECT_EQ(printed("#define A B\n#define B A\na(A)."), "a(A).\n");
  EXPECT_EQ(printed("a(RAM_DOMAIN_SIZE)."), "a(32).\n");
}

TEST(line_directives, are_joined_by_a_backslash) {
  EXPECT_EQ(printed("a(1). \\\na(x) :- b(x), \\\n  c(x)."), "a(1).\na(x) :- b(x), c(x).\n");
  EXPECT_EQ(printed("a(\"on\\\ne\")."), "a(\"one\").\n");
  EXPECT_EQ(printed("ab\\\r\nc(1)."), "abc(1).\n");
  EXPECT_EQ(printed("a(1). // b(2). \\\nc(3).\nd(4)."), "a(1).\nd(4).\n");
  EXPECT_EQ(printed("a(\"\\\\\"). b(2)."), "a(\"\\\\\").\nb(2).\n");
  EXPECT_EQ(remarks_on("a(1). \\\n\nb(").substr(0, 2), "3:");
}

TEST(macros, with_arguments) {
  EXPECT_EQ(printed("#define E(x, y) e(y, x)\na() :- E(1, @f(2, 3)), E((4), \"a,b\")."),
            "a() :- e(@f(2, 3), 1), e(\"a,b\", 4).\n");
  EXPECT_EQ(printed("#define E(x) e(x)\na() :- E(\n 1 // one\n )."), "a() :- e(1).\n");
  EXPECT_EQ(printed("#define E(x) e(x)\na(E)."), "a(E).\n");
  EXPECT_EQ(printed("#define F() f()\na() :- F()."), "a() :- f().\n");
  EXPECT_EQ(printed("#define E(x) x\na(E(E(E(1))))."), "a(1).\n");
  EXPECT_EQ(printed("#define E G\n#define G(x) g(x, x)\na() :- E(1)."), "a() :- g(1, 1).\n");
  EXPECT_EQ(printed("#define D(R) .decl R(x:number)\nD(p)\nD(q)"), ".decl p(x: number)\n.decl q(x: number)\n");
  EXPECT_EQ(printed("#define V(r, ...) r(__VA_ARGS__)\nV(a, 1, 2). V(b)."), "a(1, 2).\nb().\n");
}

TEST(macros, stringify_and_paste) {
  EXPECT_EQ(printed("#define S(x) #x\na(S(one two), S(\"q\"))."), "a(\"one two\", \"\\\"q\\\"\").\n");
  EXPECT_EQ(printed("#define P(x, y) x ## y\na(P(1, 2), P(va, r), P(, z))."), "a(12, var, z).\n");
  EXPECT_EQ(printed("#define R(name) .decl rel_##name(x:number)\nR(a)"), ".decl rel_a(x: number)\n");
  EXPECT_EQ(printed("#define N 1\n#define P(x) N##x\n#define Q(x) P(x)\na(P(2), Q(N))."), "a(N2, N1).\n");
}

TEST(macros, do_not_grow_together_with_their_neighbours) {
  EXPECT_EQ(printed("#define X(y) y\na(1 X(bor)2)."), "a(1 bor 2).\n");
}

TEST(macros, from_options) {
  parse_options options;
  options.macros = {"ONE", "TWO=2", "SUM(x,y)=x + y"};
  options.word_bits = 64;
  EXPECT_EQ(printed("a(ONE, TWO, SUM(3, 4), RAM_DOMAIN_SIZE).", options), "a(1, 2, 3 + 4, 64).\n");
  options.macros = {"1=2"};
  EXPECT_EQ(remarks_on("a().", options), "0:in the macro given as \"1=2\": macro names must be identifiers\n");
  options.macros = {"N=5"};
  options.preprocess = false;
  EXPECT_EQ(printed("a(N).", options), "a(N).\n");
}

TEST(macros, wrong_ones) {
  EXPECT_EQ(remarks_on("a().\n#define 1 2\n"), "2:macro names must be identifiers\n");
  EXPECT_EQ(remarks_on("#define F(x y) 1\n"), "1:malformed parameter list of macro \"F\"\n");
  EXPECT_EQ(remarks_on("#define F(x, x) 1\n"), "1:duplicate macro parameter \"x\"\n");
  EXPECT_EQ(remarks_on("#define F(x) ## x\n"), "1:\"##\" cannot appear at either end of a macro expansion\n");
  EXPECT_EQ(remarks_on("#define F(x, y) b(x, y)\n\na() :- F(1).\n").substr(0, 60),
            "3:macro \"F\" requires 2 arguments, but 1 given\n3:syntax error");
  EXPECT_EQ(remarks_on("#define F(x) x\na(1).\na(F(1.\n").substr(0, 47),
            "3:unterminated argument list of macro \"F\"\n3:syn");
}

TEST(macros, bombs_are_defused_release_only) {
  std::string doubling = "#define A0 1, 1\n";
  std::string nested = "#define B0(x) x, x\n";
  for (int level = 1; level < 60; ++level) {
    const std::string number = std::to_string(level), before = std::to_string(level - 1);
    doubling += "#define A" + number + " A" + before + ", A" + before + "\n";
    nested += "#define B" + number + "(x) B" + before + "(B" + before + "(x))\n";
  }
  EXPECT_EQ(remarks_on(doubling + "a(A59)."), "61:macro expansion grows too large\n61:syntax error, unexpected )\n");
  // The commas of an expansion are commas of the next call.
  const std::string remarks = remarks_on(nested + "a(B59(1)).");
  const std::string first = "61:macro \"B0\" requires 1 arguments, but 4 given\n";
  const std::string last = "\n61:macro expansion grows too large\n";
  EXPECT_EQ(remarks.substr(0, first.size()), first);
  EXPECT_EQ(remarks.substr(remarks.size() - last.size()), last);
  std::string deep = "a(";
  for (int level = 0; level < 300; ++level) deep += "F(";
  for (int level = 0; level < 300; ++level) deep += ")";
  EXPECT_EQ(remarks_on("#define F(x) x\n" + deep + ")."), "2:macro calls are nested too deeply\n");
}

TEST(conditions, choose_text) {
  EXPECT_EQ(printed("#ifdef A\na(1).\n#else\na(2).\n#endif\n#ifndef A\na(3).\n#endif\n"), "a(2).\na(3).\n");
  EXPECT_EQ(printed("#if 0\nnot datalog ' \" /* #endif */\n#if 1\n#else\n#endif\n#elif 2 > 1\na(1).\n#elif 1\nb\n"
                    "#else\nc\n#endif\n"),
            "a(1).\n");
  EXPECT_EQ(printed("  #  define A 1\n#if defined(A) && !defined B && A == 1\na(1).\n#endif"), "a(1).\n");
  EXPECT_EQ(printed("a(1,\n#if 0\n2,\n#endif\n3)."), "a(1, 3).\n");
}

TEST(conditions, arithmetic) {
  const auto holds = [](const std::string& condition) {
    return printed("#if " + condition + "\na().\n#endif\n") == "a().\n";
  };
  EXPECT_TRUE(holds("1 + 2 * 3 == 7 && (1 + 2) * 3 == 9"));
  EXPECT_TRUE(holds("-7 / 2 == -3 && -7 % 2 == -1"));
  EXPECT_TRUE(holds("0x10 == 16 && 010 == 8 && 0b11 == 3 && 5u == 5L"));
  EXPECT_TRUE(holds("(1 ? 2 : 3) == 2 && (0 ? 2 : 3) == 3"));
  EXPECT_TRUE(holds("1 || 1 / 0"));
  EXPECT_TRUE(holds("(1 << 4 | 3 ^ 1 & 3) == 18 && ~0 == -1 && 16 >> 2 >= 4 && 1 != 2 && 1 <= 1"));
  EXPECT_TRUE(holds("RAM_DOMAIN_SIZE == 32"));
  EXPECT_FALSE(holds("UNKNOWN"));
  EXPECT_FALSE(holds("9223372036854775807 + 1 > 0"));
  EXPECT_TRUE(holds("__LINE__ == 1"));
  EXPECT_TRUE(holds("defined __LINE__ && defined(__FILE__) && defined __DATE__ && defined(__TIME__)"));
  EXPECT_EQ(printed("#ifndef __FILE__\na(1).\n#else\na(2).\n#endif"), "a(2).\n");
}

TEST(conditions, wrong_ones) {
  EXPECT_EQ(remarks_on("#if\n#endif\n"), "1:malformed condition after #if\n");
  EXPECT_EQ(remarks_on("#if 1 / 0\n#endif\n"), "1:malformed condition after #if\n");
  EXPECT_EQ(remarks_on("#if 1 +\n#endif\n"), "1:malformed condition after #if\n");
  EXPECT_EQ(remarks_on("a().\n#endif\n"), "2:#endif without #if\n");
  EXPECT_EQ(remarks_on("a().\n#if 1\nb().\n"), "2:unterminated #if\n");
  EXPECT_EQ(remarks_on("#if 1\n#else\n#else\n#endif"), "3:#else after #else\n");
  EXPECT_EQ(remarks_on("#if " + std::string(100'000, '(') + "\n#endif"), "1:malformed condition after #if\n");
  EXPECT_EQ(remarks_on("#error no way\n#frobnicate\n"),
            "1:#error no way\n2:invalid preprocessing directive #frobnicate\n");
  EXPECT_EQ(remarks_on("#if 0\n#error no way\n#frobnicate\n#endif\n"), "");
}

TEST(conditions, compare_characters) {
  EXPECT_EQ(printed("#if 'a' == 97 && '\\n' == 10 && '\\x41' == 'A' && '\\101' == 65 && '\\0' == 0\na(1).\n#endif\n"),
            "a(1).\n");
  EXPECT_EQ(printed("#define C '\"'\n#if C != 34 || '/' != 47\n#elif C == 34 && '\\'' == 39\na(1).\n#endif // */\n"),
            "a(1).\n");
  EXPECT_EQ(remarks_on("#if '' == 0\n#endif\n"), "1:malformed condition after #if\n");
  EXPECT_EQ(remarks_on("#if '\\q' == 0\n#endif\n"), "1:malformed condition after #if\n");
  EXPECT_EQ(remarks_on("#if '\\777' == 0\n#endif\n"), "1:malformed condition after #if\n");
}

TEST(directives, follow_comments) {
  EXPECT_EQ(printed("/* a */ #ifdef FOO\na(1).\n/* b */ /* c */#else\na(2).\n \t/* d */ #endif"), "a(2).\n");
  EXPECT_EQ(printed("/* several\n lines */ #define X 1\na(X)."), "a(1).\n");
  EXPECT_EQ(printed("\\\n#define X 1\na(X)."), "a(1).\n");
  EXPECT_EQ(printed("#if 0\n/* #endif\n */ #else\na(1).\n#endif"), "a(1).\n");
  EXPECT_EQ(printed("#if 0\na(\"/*\").\n#else\na(1). // it's\n#endif /* */"), "a(1).\n");
  EXPECT_EQ(printed("#if 0\nthe \"quote\n#else\na(1).\n#endif\na(\"2\")."), "a(1).\na(\"2\").\n");
  EXPECT_EQ(remarks_on("// a\n/* several\n lines */ #define 1\n"), "3:macro names must be identifiers\n");
  EXPECT_EQ(remarks_on("a(1). /* several\n lines */ #define X 1\n"), "2:Text after # is ignored\n");
}

TEST(positions, of_the_original_text) {
  EXPECT_EQ(remarks_on("#define A \\\n 1\n\n#if 1\na(A) b.\n#endif\n"),
            "5:syntax error, unexpected identifier, expecting :- or \",\" or . or <=\n");
  const parsed_text parsed("#define E(x) b(x\n  a() :- E(1.\n");
  EXPECT_EQ(parsed.report.to_public().at(0).line, 2U);
  EXPECT_EQ(printed("at(__LINE__, 1).\n#define HERE __LINE__\n\nat(HERE, __FILE__)."),
            "at(1, 1).\nat(4, \"test.dl\").\n");
}

TEST(positions, line_directives) {
  const parsed_text marked("# 10 \"other.dl\"\na(,).\n#line 20\nb(,).\n#line 30 \"third.dl\"\nc(,).\n");
  std::string places;
  for (const diagnostic& remark : marked.report.to_public()) {
    places += remark.file + ":" + std::to_string(remark.line) + " ";
  }
  EXPECT_EQ(places, "other.dl:10 other.dl:20 third.dl:30 ");
  parse_options raw;
  raw.preprocess = false;
  const parsed_text unprocessed("# 10 \"other.dl\" 1\na(,).\n", raw);
  EXPECT_EQ(unprocessed.report.to_public().at(0).file, "other.dl");
  EXPECT_EQ(unprocessed.report.to_public().at(0).line, 10U);
}

/// Files in a folder of their own, removed at the end.
class includes : public testing::Test {
 protected:
  includes() : folder_(testing::TempDir() + "gpulog_includes_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_ + "/lib");
    options_.include_directories = {folder_ + "/lib"};
  }
  ~includes() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }

  /// "file:line:message" of each remark, then the program as printed.
  std::string run(const std::string& main_text) {
    source_manager sources;
    diagnostics report;
    const program result = parse(sources.add(folder_ + "/main.dl", main_text), sources, report, options_);
    std::string out;
    for (const diagnostic& remark : report.to_public()) {
      out += std::string(base_name(remark.file)) + ":" + std::to_string(remark.line) + ":" + remark.message + "\n";
    }
    return out + print(result);
  }

  std::string folder_;
  parse_options options_;
};

TEST_F(includes, beside_the_file_and_in_folders) {
  write("beside.dl", "b(1).\n");
  write("lib/found.dl", "c(1).\n");
  EXPECT_EQ(run("a(1).\n.include \"beside.dl\"\n.include \"found.dl\"\na(2).\n"), "a(1).\nb(1).\nc(1).\na(2).\n");
  EXPECT_EQ(run("a(1).\n#include \"beside.dl\"\n#include <found.dl>\na(2).\n"), "a(1).\nb(1).\nc(1).\na(2).\n");
  EXPECT_EQ(run("#define WHAT \"beside.dl\"\n#include WHAT\n"), "b(1).\n");
  EXPECT_EQ(run("\n.include \"nowhere.dl\"\na(1)."), "main.dl:2:cannot find include file \"nowhere.dl\"\na(1).\n");
  EXPECT_EQ(run("\n#include \"nowhere.dl\"\na(1)."), "main.dl:2:cannot find include file \"nowhere.dl\"\na(1).\n");
  EXPECT_EQ(run("\n.include \"lib\"\na(1)."), "main.dl:2:cannot find include file \"lib\"\na(1).\n");
  EXPECT_EQ(run(".include beside\na(1).\nb(1)."),
            "main.dl:1:syntax error, unexpected identifier, expecting the name of a file after .include\nb(1).\n");
}

TEST_F(includes, leave_annotations_unattached) {
  write("doc.dl", "b(1).\n@[x]\n/// last");
  EXPECT_EQ(run("a(1).\n/// first\n@[y]\n.include \"doc.dl\"\na(2).\n/// end"),
            "doc.dl:2:annotation found at end of included file, not attached to anything\n"
            "doc.dl:3:doc comment found at end of included file, not attached to anything\n"
            "main.dl:2:doc comment found before '.include', not attached to anything\n"
            "main.dl:3:annotation found before '.include', not attached to anything\n"
            "main.dl:6:doc comment found at end of file, not attached to anything\n"
            "a(1).\nb(1).\na(2).\n");
}

TEST_F(includes, macros_stay_out_of_include_directives) {
  write("inner.dl", "b(N).\n#define N 6\nb(N).\n");
  EXPECT_EQ(run("#define N 5\n#include \"inner.dl\"\na(N).\n"), "b(5).\nb(6).\na(6).\n");
  EXPECT_EQ(run("#define N 5\n.include \"inner.dl\"\na(N).\n"),
            "inner.dl:2:Text after # is ignored\nb(N).\nb(N).\na(5).\n");
}

TEST_F(includes, once) {
  write("once.dl", ".once\n.include \"once.dl\"\nb(1).\n");
  write("pragma.dl", "#pragma once\nc(1).\n");
  EXPECT_EQ(run(".include \"once.dl\"\n.include \"once.dl\"\na(1).\n"), "b(1).\na(1).\n");
  EXPECT_EQ(run("#include \"pragma.dl\"\n#include \"pragma.dl\"\na(1).\n"), "c(1).\na(1).\n");
  EXPECT_EQ(run(".once\na(1).\n"), "a(1).\n");
}

TEST_F(includes, cycles_are_errors) {
  write("x.dl", ".include \"y.dl\"\n");
  write("y.dl", "\n.include \"x.dl\"\n");
  EXPECT_EQ(run(".include \"x.dl\"\n"), "y.dl:2:include cycle: file \"x.dl\" includes itself\n");
  write("z.dl", "a(1).\n#include \"z.dl\"\n");
  std::string facts;
  for (int level = 0; level < 100; ++level) facts += "a(1).\n";
  EXPECT_EQ(run("#include \"z.dl\"\n"),
            "z.dl:2:#include nested too deeply: file \"z.dl\" seems to include itself\n" + facts);
  write("twice.dl", "#include \"twice.dl\"\n#include \"twice.dl\"\n");
  EXPECT_EQ(run("#include \"twice.dl\"\n"),
            "twice.dl:1:#include nested too deeply: file \"twice.dl\" seems to include itself\n");
}

TEST_F(includes, errors_name_the_file) {
  write("bad.dl", "a(1).\na(,).\n");
  EXPECT_EQ(run("\n\n.include \"bad.dl\"\nb(,)."),
            "bad.dl:2:syntax error, unexpected \",\"\nmain.dl:4:syntax error, unexpected \",\"\na(1).\n");
  EXPECT_EQ(run("\n\n#include \"bad.dl\"\nb(,)."),
            "bad.dl:2:syntax error, unexpected \",\"\nmain.dl:4:syntax error, unexpected \",\"\na(1).\n");
  write("where.dl", "f(__FILE__, __LINE__, __INCL__).\n");
  EXPECT_EQ(run("#line 7 \"named.dl\"\nf(__FILE__)."), "f(\"named.dl\").\n");
  EXPECT_EQ(run("\n .include \"where.dl\""), "f(\"" + folder_ + "/where.dl\", 1, \"" + folder_ + "/main.dl:2:2\").\n");
}

TEST_F(includes, can_be_forbidden) {
  write("beside.dl", "b(1).\n");
  options_.allow_include = false;
  EXPECT_EQ(run(".include \"beside.dl\"\n"), "main.dl:1:cannot find include file \"beside.dl\"\n");
}

}  // namespace
}  // namespace gpulog::syntax
