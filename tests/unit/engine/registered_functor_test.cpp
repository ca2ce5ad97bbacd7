// Functors that the caller of the library has.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "device_here.hpp"
#include "gpulog/engine.hpp"

namespace {

using gpulog::engine;
using gpulog::program;
using gpulog::row_functor;
using gpulog::run_options;

/// A run on each backend that is here, with each storage and number of threads.
std::vector<run_options> ways() {
  std::vector<run_options> result;
  for (const auto backend : {gpulog::backend_kind::cpu, gpulog::backend_kind::gpu}) {
    if (backend == gpulog::backend_kind::gpu && !gpulog::has_device()) continue;
    for (const auto storage : {gpulog::storage_kind::automatic, gpulog::storage_kind::hisa}) {
      for (const unsigned jobs : {1U, 4U}) {
        run_options& made = result.emplace_back();
        made.backend = backend;
        made.storage = storage;
        made.jobs = jobs;
      }
    }
  }
  return result;
}

program compiled(const std::string& text, unsigned word_size = 32) {
  gpulog::compile_options options;
  options.word_size = word_size;
  program made = program::from_text(text, options);
  EXPECT_TRUE(made.ok()) << made.report();
  return made;
}

std::string message_of(const program& source, const run_options& options) {
  try {
    const engine refused(source, options);
  } catch (const gpulog::input_error& fault) {
    return fault.what();
  }
  return "none";
}

constexpr const char* functor_types = R"(
  .functor all(n:number, u:unsigned, f:float, s:symbol):symbol
  .functor next(n:number):number
  .functor top():unsigned
  .functor half(f:float):float
  .decl in(n:number, u:unsigned, f:float, s:symbol)
  in(-1, 4000000000, 0.5, "one"). in(7, 0, -2.5, "").
  .decl out(s:symbol, n:number, u:unsigned, f:float)
  out(@all(n, u, f, s), @next(n), @top(), @half(f)) :- in(n, u, f, s).
)";

template <class Number, class Unsigned, class Float>
void check_all_types(unsigned word_size) {
  for (run_options options : ways()) {
    options.functors["all"] = row_functor([](Number n, Unsigned u, Float f, const std::string& s) {
      return std::to_string(n) + "," + std::to_string(u) + "," + std::to_string(static_cast<int>(f * 2)) + "," + s;
    });
    options.functors["next"] = row_functor([](Number n) { return static_cast<Number>(n + 1); });
    options.functors["top"] = row_functor([] { return static_cast<Unsigned>(-1); });
    options.functors["half"] = row_functor([](Float f) { return f / 2; });
    engine run(compiled(functor_types, word_size), options);
    run.evaluate();
    std::set<std::tuple<std::string, std::int64_t, std::uint64_t, double>> found;
    for (const auto row : run.relation("out")) {
      found.emplace(row.symbol(0), row.number64(1), row.unsigned_number64(2), row.floating64(3));
    }
    const std::uint64_t top = static_cast<Unsigned>(-1);
    EXPECT_EQ(found, (decltype(found){{"-1,4000000000,1,one", 0, top, 0.25}, {"7,0,-5,", 8, top, -1.25}}));
  }
}

TEST(registered_functor, takes_and_gives_values_of_all_types) {
  check_all_types<std::int32_t, std::uint32_t, float>(32);
  check_all_types<std::int64_t, std::uint64_t, double>(64);
}

TEST(registered_functor, is_called_for_many_rows_at_a_time) {
  for (run_options options : ways()) {
    std::atomic<std::size_t> most = 0;
    options.functors["next"] = [&](std::span<const gpulog::column_values> arguments,
                                   const gpulog::result_values& results) {
      const auto given = std::get<std::span<const std::int32_t>>(arguments[0]);
      const auto made = std::get<std::span<std::int32_t>>(results);
      std::transform(given.begin(), given.end(), made.begin(), [](std::int32_t x) { return x + 1; });
      std::size_t seen = most;
      while (seen < made.size() && !most.compare_exchange_weak(seen, made.size())) {
      }
    };
    engine run(compiled(".functor next(x:number):number\n.decl a(x:number)\na(x) :- x = range(0, 5000).\n"
                        ".decl b(x:number)\nb(@next(x)) :- a(x).\n"),
               options);
    run.evaluate();
    EXPECT_EQ(run.relation("b").size(), 5000U);
    EXPECT_TRUE(run.relation("b").contains({5000}));
    EXPECT_GT(most, 100U);
  }
}

TEST(registered_functor, may_throw_what_it_likes) {
  struct problem : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const program source = compiled(
      ".functor f(x:number):number\n.decl a(x:number)\na(x) :- x = range(0, 20000).\n.decl b(x:number)\n"
      "b(@f(x)) :- a(x).\n.decl c(x:number)\nc(@f(x + 1)) :- a(x).\n");
  for (run_options options : ways()) {
    bool fails = true;
    options.functors["f"] = row_functor([&](std::int32_t x) {
      if (fails && x > 7000) throw problem("too large: " + std::to_string(x));
      return x;
    });
    engine run(source, options);
    EXPECT_THROW(run.evaluate(), problem);
    EXPECT_THROW(run.evaluate(), gpulog::input_error);  // it can only be reset
    fails = false;
    run.reset();
    run.evaluate();
    EXPECT_EQ(run.relation("b").size(), 20000U);
  }
}

TEST(registered_functor, serves_aggregates_and_recursion) {
  for (run_options options : ways()) {
    options.functors["step"] = row_functor([](std::int32_t x) { return x * 3 % 1009; });
    options.functors["longer"] =
        row_functor([](std::string_view a, std::string_view b) { return std::string(a.size() < b.size() ? b : a); });
    engine run(compiled(".functor step(x:number):number\n.functor longer(a:symbol, b:symbol):symbol\n"
                        ".decl a(x:number)\na(1). a(@step(x)) :- a(x).\n"
                        ".decl t(s:symbol)\nt(\"a\"). t(\"ccc\"). t(\"bb\").\n"
                        ".decl n(x:number)\nn(c) :- c = count : { a(x), @step(x) > 500 }.\n"
                        ".decl l(s:symbol)\nl(@longer(x, y)) :- t(x), t(y), x < y.\n"),
               options);
    run.evaluate();
    std::set<std::int32_t> reached;
    for (std::int32_t x = 1; reached.insert(x).second;) x = x * 3 % 1009;
    EXPECT_EQ(run.relation("a").size(), reached.size());
    const auto large = std::count_if(reached.begin(), reached.end(), [](auto x) { return x * 3 % 1009 > 500; });
    EXPECT_TRUE(run.relation("n").contains({static_cast<std::int32_t>(large)}));
    EXPECT_EQ(run.relation("l").size(), 2U);  // bb, ccc
  }
}

/// What goes on calls it for new tuples alone; where it throws, the engine can be reset.
TEST(registered_functor, is_called_by_later_evaluations) {
  for (run_options options : ways()) {
    std::atomic<int> calls = 0;
    options.functors["next"] = row_functor([&calls](std::int32_t x) {
      ++calls;
      if (x == 1000) throw std::runtime_error("too large");
      return x + 1;
    });
    options.tuning["continuation"] = "on";
    engine run(compiled(".functor next(x:number):number\n.decl a(x:number)\n.decl b(x:number)\nb(@next(x)) :- a(x).\n"
                        "b(@next(x)) :- b(x), x < 990, x > 980.\n"),
               options);
    for (std::int32_t x = 0; x < 40; ++x) run.relation("a").insert({x});
    run.evaluate();
    EXPECT_EQ(run.relation("b").size(), 40U);
    calls = 0;
    run.relation("a").insert({std::int32_t{980}});
    run.evaluate();
    EXPECT_EQ(run.relation("b").size(), 50U);
    if (options.backend == gpulog::backend_kind::cpu) EXPECT_EQ(calls, 10);
    run.relation("a").insert({std::int32_t{1000}});
    EXPECT_THROW(run.evaluate(), std::exception);
    EXPECT_THROW(run.evaluate(), gpulog::input_error);
    run.reset();
    run.relation("a").insert({std::int32_t{5}});
    run.evaluate();
    EXPECT_EQ(run.relation("b").size(), 1U);
    EXPECT_TRUE(run.relation("b").contains({std::int32_t{6}}));
  }
}

TEST(registered_functor, has_to_fit_its_declaration) {
  const program source = compiled(".functor next(x:number):number\n.decl a(x:number)\na(@next(1)).\n");
  run_options options;
  options.functors["net"] = row_functor([](std::int32_t x) { return x; });
  EXPECT_EQ(message_of(source, options), "There is no functor net, did you mean 'next'?");
  options.functors.clear();
  const std::string refused = "User-defined functor @next cannot be called: ";
  const std::string other = refused +
                            "it is declared as (number):number with words of 32 bits, and the function has "
                            "other types";
  options.functors["next"] = row_functor([](std::int64_t x) { return x; });
  EXPECT_EQ(message_of(source, options), other);
  options.functors["next"] = row_functor([](std::int32_t x) { return std::to_string(x); });
  EXPECT_EQ(message_of(source, options), other);
  options.functors["next"] = row_functor([](std::int32_t x, std::int32_t y) { return x + y; });
  EXPECT_EQ(message_of(source, options), refused + "a functor has another number of parameters");
  options.functors["next"] = {};
  EXPECT_EQ(message_of(source, options), refused + "there is no function");
  options.functors["next"] = row_functor([](std::int32_t x) { return x; });
  EXPECT_EQ(message_of(source, options), "none");
  EXPECT_EQ(message_of(compiled(".functor next(x:number):number stateful\n"), options),
            refused + "it is stateful, as only functors of libraries can be");
}

}  // namespace
