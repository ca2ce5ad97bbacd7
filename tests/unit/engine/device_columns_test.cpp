// Columns of results in the memory of the device that computed them.
#include <gtest/gtest.h>

#if defined(GPULOG_GPU_ARCHITECTURES)

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/gpu/device.hpp"
#include "device_here.hpp"
#include "gpulog/engine.hpp"
#include "oracle/random_runs.hpp"

namespace gpulog {
namespace {

constexpr const char* device_program = R"(
.decl edge(x:number, y:number)
edge(x, x + 1) :- x = range(0, 70).
.decl path(x:number, y:number, name:symbol, f:float)
path(x, y, "n", 0.5) :- edge(x, y).
path(x, z, s, f) :- path(x, y, s, f), edge(y, z).
.decl same(x:number, y:number) eqrel
same(x, y) :- edge(x, y).
)";

template <class Value>
std::vector<Value> copied(const gpulog::device_column& column) {
  std::vector<Value> values(column.rows);
  const backend::gpu::device_context context(column.device);
  backend::gpu::copy_async(values.data(), column.values, column.rows * sizeof(Value),
                           backend::gpu::direction::device_to_host, context.stream());
  context.synchronize();
  return values;
}

gpulog::run_options on_device(gpulog::storage_kind storage) {
  gpulog::run_options options;
  options.backend = gpulog::backend_kind::gpu;
  options.storage = storage;
  options.places.emplace_back("path", gpulog::backend_kind::gpu);
  return options;
}

TEST(device_columns, are_those_of_the_host) {
  if (!gpulog::has_device()) GTEST_SKIP() << "no device";
  for (const auto storage : {gpulog::storage_kind::automatic, gpulog::storage_kind::hisa, gpulog::storage_kind::hash,
                             gpulog::storage_kind::bits, gpulog::storage_kind::words}) {
    if (gpulog::oracle::is_sanitized && storage == gpulog::storage_kind::words) continue;
    auto run = std::make_unique<gpulog::engine>(gpulog::program::from_text(device_program), on_device(storage));
    EXPECT_FALSE(run->relation("path").on_device(0));
    run->evaluate();
    const auto path = run->relation("path");
    const auto x = path.on_device(0);
    const auto y = path.on_device(1);
    const auto f = path.on_device(3);
    ASSERT_TRUE(x && y && f);
    EXPECT_TRUE(gpulog::backend_from_name(x->vendor) || x->vendor == "emulated") << x->vendor;
    EXPECT_NE(x->stream, nullptr);
    EXPECT_EQ(x->rows, path.size());
    std::set<std::pair<std::int32_t, std::int32_t>> wanted;
    for (const gpulog::tuple row : path) wanted.emplace(row.number(0), row.number(1));
    EXPECT_FALSE(path.on_device(2));
    EXPECT_FALSE(run->relation("same").on_device(0));
    EXPECT_THROW((void)path.on_device(4), gpulog::input_error);
    run->relation("edge").insert({500, 501});
    run->evaluate();
    run.reset();
    std::set<std::pair<std::int32_t, std::int32_t>> found;
    const auto left = copied<std::int32_t>(*x);
    const auto right = copied<std::int32_t>(*y);
    for (std::size_t row = 0; row < left.size(); ++row) found.emplace(left[row], right[row]);
    EXPECT_EQ(copied<float>(*f), std::vector<float>(left.size(), 0.5F));
    EXPECT_EQ(found, wanted);
  }
}

TEST(device_columns, of_words_of_64_bits_there_are_none) {
  if (!gpulog::has_device()) GTEST_SKIP() << "no device";
  gpulog::compile_options wide;
  wide.word_size = 64;
  gpulog::engine run(gpulog::program::from_text(device_program, wide), on_device(gpulog::storage_kind::automatic));
  run.evaluate();
  EXPECT_FALSE(run.relation("path").on_device(0));
}

TEST(device_columns, are_facts_of_another_engine) {
  if (!gpulog::has_device()) GTEST_SKIP() << "no device";
  gpulog::engine run(gpulog::program::from_text(device_program), on_device(gpulog::storage_kind::automatic));
  run.evaluate();
  const auto path = run.relation("path");
  const auto x = path.on_device(0);
  const auto y = path.on_device(1);
  const auto f = path.on_device(3);
  ASSERT_TRUE(x && y && f);
  for (const unsigned word_size : {32U, 64U}) {
    gpulog::compile_options compiling;
    compiling.word_size = word_size;
    gpulog::engine other(gpulog::program::from_text(".decl a(x:number, y:number, f:float)", compiling));
    auto a = other.relation("a");
    a.insert_device_columns(std::vector<gpulog::device_column>{*x, *y, *f});
    EXPECT_EQ(a.size(), path.size());
    EXPECT_TRUE(a.contains({3, 7, 0.5F}));
    gpulog::device_column shorter = *y;
    --shorter.rows;
    gpulog::device_column of_another_device = *y;
    of_another_device.device = 1000;
    gpulog::device_column of_another_vendor = *y;
    of_another_vendor.vendor = "nobody";
    gpulog::device_column of_another_type = *y;
    of_another_type.format = "f";
    for (const auto& wrong : {shorter, of_another_device, of_another_vendor, of_another_type}) {
      EXPECT_THROW(a.insert_device_columns(std::vector<gpulog::device_column>{*x, wrong, *f}), gpulog::input_error);
      EXPECT_EQ(a.size(), path.size());
    }
  }
}

}  // namespace
}  // namespace gpulog
#endif
