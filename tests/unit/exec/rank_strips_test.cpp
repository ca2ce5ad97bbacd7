#include "exec/ranks/rank_strips.hpp"

#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backend/cpu/tbb_backend.hpp"
#include "exec/executor.hpp"
#include "gpulog/error.hpp"
#include "gtest/gtest.h"
#include "oracle/rank_threads.hpp"

namespace gpulog::exec {
namespace {

template <class T>
storage::array<T> array_of(const std::vector<T>& values) {
  storage::array<T> made(backend::unlimited_memory(), values.size());
  std::copy(values.begin(), values.end(), made.data());
  return made;
}

/// Relation of a chain of `length` components, in which each component leads to all smaller ones: component c has
/// c % 3 sources and c % 2 + 1 values.
std::vector<storage::factorized_values> chain(std::uint32_t length) {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> lowest;
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> values;
  std::uint32_t source_count = 0;
  std::uint32_t value_count = 0;
  for (std::uint32_t c = 0; c < length; ++c) {
    first.push_back(c == 0 ? 0 : c - 1);
    if (c != 0) successors.push_back(c - 1);
    lowest.push_back(c == 0 ? UINT32_MAX : 0);
    sources.push_back(source_count);
    values.push_back(value_count);
    source_count += c % 3;
    value_count += c % 2 + 1;
  }
  first.push_back(length == 0 ? 0 : length - 1);
  sources.push_back(source_count);
  values.push_back(value_count);
  auto graph = std::make_shared<storage::factorized_graph>();
  graph->components = graph->vertices = length;
  graph->is_cyclic = array_of(std::vector<std::uint8_t>(length, 0));
  graph->first = array_of(first);
  graph->successors = array_of(successors);
  graph->lowest = array_of(lowest);
  graph->source_first = array_of(sources);
  graph->strip_words = storage::factorized_graph::least_strip_words;
  std::vector<storage::factorized_values> members(2);
  for (auto& member : members) member.graph = graph;
  members[0].first = array_of(values);
  members[1].first = array_of(sources);
  return members;
}

std::vector<std::vector<std::uint64_t>> counted(std::vector<storage::factorized_values> members,
                                                kernels::strip_counters* others) {
  backend::cpu::tbb_backend workers(2);
  kernels::count_rows(workers, backend::unlimited_memory(), members, others, nullptr);
  std::vector<std::vector<std::uint64_t>> rows;
  for (const auto& member : members) rows.emplace_back(member.rows_in_front.begin(), member.rows_in_front.end());
  return rows;
}

std::string rank_1() {
  char host[256] = {};
  EXPECT_EQ(::gethostname(host, sizeof(host) - 1), 0);
  return "rank 1 (process " + std::to_string(::getpid()) + " on " + host + ")";
}

TEST(rank_strips, counts_are_those_of_one_process) {
  for (const std::uint32_t length : {1U, 31U, 512U, 513U, 5000U}) {
    const auto expected = counted(chain(length), nullptr);
    std::uint64_t rows = 0;
    for (std::uint32_t c = 0, values = 0; c < length; values += c % 2 + 1, ++c) rows += std::uint64_t{c % 3} * values;
    EXPECT_EQ(expected[0].back(), rows);
    for (const unsigned ranks : {2U, 3U, 4U}) {
      oracle::on_ranks(ranks, [&](ranks::rank_group& group) {
        rank_strips others(group, {.threads = 2});
        EXPECT_EQ(counted(chain(length), &others), expected);
        EXPECT_EQ(counted(chain(length), &others), expected);
      });
    }
  }
}

TEST(rank_strips, short_of_memory) {
  oracle::on_ranks(3, [&](ranks::rank_group& group) {
    rank_strips others(group, {.memory_limit = 1000});
    for (int i = 0; i < 2; ++i) {
      try {
        counted(chain(300), &others);
        FAIL();
      } catch (const memory_fault& fault) {
        EXPECT_EQ(fault.what(), "Out of memory on " + rank_1() +
                                    ": 1204 more bytes were needed with 300 bytes in use, and the limit is 1000 bytes "
                                    "(raise it with memory_limit, or name a folder with spill)");
      }
    }
    rank_strips with_memory(group, {});
    EXPECT_EQ(counted(chain(300), &with_memory), counted(chain(300), nullptr));
    rank_strips with_folder(group, {.memory_limit = 1000000, .spill_directory = "."});
    EXPECT_EQ(counted(chain(100000), &with_folder), counted(chain(100000), nullptr));
    rank_strips without_folder(group, {.spill_directory = "/missing"});
    try {
      counted(chain(300), &without_folder);
      FAIL();
    } catch (const user_error& fault) {
      EXPECT_EQ(fault.what(), rank_1() + ": the folder /missing of spill: No such file or directory");
    }
  });
}

TEST(rank_group, finds_differences) {
  oracle::rank_threads all(2);
  const auto join = [&all](unsigned rank, const std::string& version, const std::vector<std::string>& arguments) {
    try {
      const ranks::rank_group group(std::make_unique<oracle::thread_communicator>(all, rank), version, arguments);
      return std::string();
    } catch (const input_error& failure) {
      return std::string(failure.what());
    }
  };
  const auto message = [&](const std::string& version, const std::vector<std::string>& arguments) {
    std::string other;
    std::jthread second([&] { other = join(1, version, arguments); });
    std::string first = join(0, "1.0", {"a.dl", "-j2"});
    second.join();
    EXPECT_EQ(other, first);
    return first;
  };
  EXPECT_EQ(message("1.0", {"a.dl", "-j2"}), "");
  EXPECT_EQ(message("1.1", {"a.dl", "-j2"}), rank_1() + " runs gpulog 1.1, but rank 0 runs gpulog 1.0");
  EXPECT_EQ(message("1.0", {"a.dl"}),
            "the arguments of " + rank_1() + " are 'a.dl', but those of rank 0 are 'a.dl -j2'");
  EXPECT_EQ(message("1.0", {}), "the arguments of " + rank_1() + " are '', but those of rank 0 are 'a.dl -j2'");
}

}  // namespace
}  // namespace gpulog::exec
