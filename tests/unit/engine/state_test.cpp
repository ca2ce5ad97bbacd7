// Stored results: engine::save, engine::restore and run_options::state_file.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"
#include "input_errors.hpp"
#include "scratch_folder.hpp"

namespace gpulog::state_tests {
namespace {

using lines = std::multiset<std::string>;
using outputs = std::map<std::string, lines>;

/// Values of every kind, an equivalence relation, a relation without columns, facts beside rules, negation, aggregates.
const char* const every_kind = R"(
.type pair = [a:symbol, b:number]
.type tree = Leaf {} | Node {left:tree, key:number} | Name {s:symbol}
.decl e(x:symbol, n:number)
.decl f(x:number, y:number)
f(1,2). f(2,3).
.decl reach(x:number, y:number)
.output reach
reach(7,7).
reach(x,y) :- f(x,y).
reach(x,z) :- reach(x,y), f(y,z).
.decl same(x:number, y:number) eqrel
.output same
same(x,y) :- f(x,y), x > 1.
.decl pairs(p:pair)
.output pairs
pairs([cat(x,"!"), n * n]) :- e(x,n).
.decl trees(t:tree)
.output trees
trees($Leaf()).
trees($Name(x)) :- e(x,_).
trees($Node($Node($Leaf(), x), y)) :- f(x,y).
.decl some()
.output some
some() :- e(_,n), n < 0.
.decl apart(x:number, y:number)
.output apart
apart(x,y) :- f(x,_), f(_,y), !reach(x,y).
.decl most(n:number, f:float, u:unsigned)
.output most
most(n, to_float(n) / 8, to_unsigned(n) + 4000000000) :- n = count : {reach(_,_)}.
.decl long(x:number, n:number)
.output long
long(x, n) :- f(x,_), n = max y : {reach(x,y)}.
)";

struct way {
  run_options options;
  unsigned word_size = 32;
};

std::vector<way> ways() {
  std::vector<way> result;
  for (const unsigned words : {32U, 64U}) {
    for (const storage_kind storage :
         {storage_kind::automatic, storage_kind::hash, storage_kind::hisa, storage_kind::bits, storage_kind::words}) {
      for (const unsigned jobs : {1U, 4U}) {
        way& one = result.emplace_back();
        one.options.storage = storage;
        one.options.jobs = jobs;
        one.options.backend = backend_kind::cpu;
        one.word_size = words;
      }
    }
    if (!has_device()) continue;
    for (const storage_kind storage : {storage_kind::hash, storage_kind::hisa}) {
      way& one = result.emplace_back();
      one.options.storage = storage;
      one.options.backend = backend_kind::gpu;
      one.word_size = words;
    }
  }
  return result;
}

engine engine_for(const way& how, const scratch_folder& folder, const std::string& text = every_kind) {
  compile_options compile;
  compile.word_size = how.word_size;
  run_options options = how.options;
  options.output_directory = folder.path();
  return engine(program::from_text(text, compile), options);
}

outputs outputs_of(engine& run, const scratch_folder& folder) {
  run.write();
  outputs result;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".csv") continue;
    std::ifstream file(entry.path());
    lines& all = result[entry.path().filename().string()];
    for (std::string line; std::getline(file, line);) all.insert(line);
  }
  return result;
}

outputs from_scratch(const way& how, const std::vector<std::pair<std::string, int>>& e,
                     const std::vector<std::pair<int, int>>& f) {
  const scratch_folder folder;
  engine run = engine_for(how, folder);
  for (const auto& [x, n] : e) run.relation("e").insert({x, n});
  for (const auto& [x, y] : f) run.relation("f").insert({x, y});
  run.evaluate();
  return outputs_of(run, folder);
}

TEST(state, a_restored_engine_has_all_values_and_goes_on) {
  for (const way& how : ways()) {
    SCOPED_TRACE(std::to_string(how.word_size) + " bits, storage " +
                 std::to_string(static_cast<int>(how.options.storage)) + ", threads " +
                 std::to_string(how.options.jobs) + ", backend " +
                 std::to_string(static_cast<int>(how.options.backend)));
    const scratch_folder folder;
    {
      engine first = engine_for(how, folder);
      first.relation("e").insert({"a", 3});
      first.relation("e").insert({"large", 2000000000});
      first.evaluate();
      first.save(folder.path("state"));
    }
    engine second = engine_for(how, folder);
    second.restore(folder.path("state"));
    EXPECT_EQ(outputs_of(second, folder), from_scratch(how, {{"a", 3}, {"large", 2000000000}}, {}));
    second.evaluate();  // nothing has changed
    EXPECT_TRUE(second.figures().strata.empty());
    EXPECT_TRUE(second.relation("reach").contains({1, 3}));
    EXPECT_FALSE(second.relation("reach").contains({3, 1}));
    EXPECT_TRUE(second.relation("same").contains({3, 2}));

    second.relation("e").insert({"b", -1});
    second.relation("e").erase({"a", 3});
    second.relation("f").insert({3, 4});
    second.relation("f").insert({9, 9});
    second.evaluate();
    const outputs expected = from_scratch(how, {{"b", -1}, {"large", 2000000000}}, {{3, 4}, {9, 9}});
    EXPECT_EQ(outputs_of(second, folder), expected);
    second.save(folder.path("state"));

    engine third = engine_for(how, folder);
    third.restore(folder.path("state"));
    EXPECT_EQ(outputs_of(third, folder), expected);
    third.relation("reach").erase({7, 7});  // a fact beside rules
    third.relation("f").erase({9, 9});
    third.relation("f").erase({3, 4});
    third.relation("e").erase({"b", -1});
    third.relation("e").insert({"a", 3});
    third.evaluate();
    outputs last = from_scratch(how, {{"a", 3}, {"large", 2000000000}}, {});
    last["reach.csv"].erase("7\t7");
    last["most.csv"] = {"3\t0.375\t4000000003"};
    EXPECT_EQ(outputs_of(third, folder), last);
  }
}

TEST(state, strata_without_changes_are_not_evaluated) {
  const scratch_folder folder;
  const way how;
  engine first = engine_for(how, folder);
  first.evaluate();
  first.save(folder.path("state"));
  engine second = engine_for(how, folder);
  second.restore(folder.path("state"));
  second.relation("e").insert({"a", 3});
  second.evaluate();
  std::set<std::string> evaluated;
  for (const stratum_statistics& stratum : second.figures().strata) {
    if (!stratum.rules.empty()) evaluated.insert(stratum.relations.begin(), stratum.relations.end());
  }
  EXPECT_EQ(evaluated, (std::set<std::string>{"pairs", "trees", "some"}));
}

TEST(state, an_engine_that_cannot_use_a_state_says_why) {
  const scratch_folder folder;
  const std::string path = folder.path("state");
  const std::string prefix = "The state " + path + " cannot be used: ";
  way how;
  engine first = engine_for(how, folder);
  EXPECT_EQ(reason_of([&] { first.save(path); }), "nothing can be stored before the program is evaluated");
  first.evaluate();
  first.relation("e").insert({"a", 3});
  EXPECT_EQ(reason_of([&] { first.save(path); }), "facts have changed since the evaluation");
  first.evaluate();
  first.save(path);
  const auto reason = [&](const way& other, const std::string& text) {
    return reason_of([&] { engine_for(other, folder, text).restore(path); });
  };
  EXPECT_EQ(reason(how, every_kind), "");
  EXPECT_EQ(reason(how, std::string(every_kind) + "f(5,6).\n"), prefix + "the program of the run changed");
  way wide = how;
  wide.word_size = 64;
  EXPECT_EQ(reason(wide, every_kind), prefix + "its words have 32 bits instead of 64");
  way proving = how;
  proving.options.proofs = true;
  EXPECT_EQ(reason(proving, every_kind), prefix + "the options of the run changed");
  EXPECT_EQ(reason_of([&] {
              engine filled = engine_for(how, folder);
              filled.relation("e").insert({"a", 3});
              filled.restore(path);
            }),
            prefix + "the engine has facts already");
  EXPECT_EQ(reason_of([&] { engine_for(how, folder).restore(folder.path("none")); }),
            "The state " + folder.path("none") + " cannot be used: it cannot be opened (No such file or directory)");
  folder.write("text", "some text");
  EXPECT_EQ(reason_of([&] { engine_for(how, folder).restore(folder.path("text")); }),
            folder.path("text") + " is not a state of gpulog");
  engine reader = engine_for(how, folder);
  reader.restore(path);
  EXPECT_EQ(reason(how, every_kind), prefix + "another process uses it");
}

TEST(state, a_run_with_a_file_reads_all_facts_from_files) {
  const scratch_folder folder;
  run_options options;
  options.fact_directory = options.output_directory = folder.path();
  options.state_file = folder.path("state");
  options.changes_directory = folder.path();
  const program text = program::from_text(
      ".decl a(x:number)\n.input a\n.decl b(x:number)\n.output b\nb(x + 1) :- a(x).\n.decl c(x:number)\nc(x) :- "
      "b(x).\n");
  folder.write("a.facts", "1\n2\n");
  engine(text, options).run();
  folder.write("a.facts", "2\n3\n");
  engine second(text, options);
  second.run();
  EXPECT_EQ(folder.read("b.csv"), "3\n4\n");
  EXPECT_EQ(folder.read("b.added.csv"), "4\n");
  EXPECT_EQ(folder.read("b.removed.csv"), "2\n");
  EXPECT_TRUE(second.relation("c").contains({4}));
  EXPECT_TRUE(second.warnings().empty());
  const char* const refusal =
      "a run with a state file reads all facts from files: restore() and save() allow inserted facts";
  EXPECT_EQ(reason_of([&] { second.run(); }), refusal);
  engine filled(text, options);
  filled.relation("a").insert({5});
  EXPECT_EQ(reason_of([&] { filled.run(); }), refusal);
}

TEST(state, damage_is_found_wherever_it_is) {
  const scratch_folder folder;
  const char* const text =
      ".type p = [a:number, b:symbol]\n.decl a(x:symbol)\na(\"q\"). a(\"r\").\n.decl b(x:p)\n.output b\n"
      "b([1,cat(x,x)]) :- a(x).\nb([2,\"q\"]).\n";
  way how;
  how.options.backend = backend_kind::cpu;
  engine first = engine_for(how, folder, text);
  first.evaluate();
  first.save(folder.path("state"));
  const outputs expected = outputs_of(first, folder);
  const std::string whole = folder.read("state");
  const auto reason = [&](const std::string& bytes) {
    folder.write("state", bytes);
    engine second = engine_for(how, folder, text);
    const std::string why = reason_of([&] { second.restore(folder.path("state")); });
    if (why.empty()) {
      EXPECT_EQ(outputs_of(second, folder), expected);
    } else {
      second.evaluate();  // the engine is as before
      EXPECT_EQ(outputs_of(second, folder), expected);
    }
    return why;
  };
  EXPECT_EQ(reason(whole), "");
  for (std::size_t size = 16; size < whole.size(); size += 13)
    ASSERT_EQ(reason(whole.substr(0, size)), "The state " + folder.path("state") + " cannot be used: it is damaged")
        << size;
  std::size_t unnoticed = 0;
  for (std::size_t byte = 16; byte < whole.size(); byte += 3) {
    std::string changed = whole;
    changed[byte] = static_cast<char>(changed[byte] ^ 4);
    if (reason(changed).empty()) {
      ++unnoticed;
      ASSERT_EQ(whole[byte], '\0') << byte;  // between two sections
    }
  }
  EXPECT_LT(unnoticed, 64 * 10U);
}

}  // namespace
}  // namespace gpulog::state_tests
