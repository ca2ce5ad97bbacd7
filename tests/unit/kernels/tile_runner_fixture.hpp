#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../backend/thread_launcher.hpp"
#include "kernels/join/tile_runner.hpp"

/// Hand-built pipelines, run in every storage mode by one worker and by several.
namespace gpulog::kernels::tile_runner_tests {

using tuple = std::vector<word>;
using tuples = std::set<tuple>;
using storage::storage_mode;

struct mode {
  storage_mode storage;
  unsigned workers;
  std::uint64_t piece;       ///< rows that a worker takes at a time
  std::uint64_t shared = 0;  ///< matches that a worker takes at a time; 0: no worker leaves matches to others
};

/// Collects the matches that workers leave.
class waiting_matches final : public match_sharer {
 public:
  explicit waiting_matches(std::uint64_t least = 1) : match_sharer(least) {}
  void share(shared_matches matches) override {
    const std::lock_guard<std::mutex> held(mutex_);
    waiting_.push_back(std::move(matches));
  }
  [[nodiscard]] std::vector<shared_matches> take() { return std::exchange(waiting_, {}); }

 private:
  [[nodiscard]] bool has_space() const override { return true; }

  std::mutex mutex_;
  std::vector<shared_matches> waiting_;
};

inline std::string name_of(const mode& how) {
  return std::string(how.storage == storage_mode::hash ? "hash" : "hisa") + "_" + std::to_string(how.workers) +
         "_workers_" + std::to_string(how.piece) + (how.shared == 0 ? "" : "_sharing_" + std::to_string(how.shared));
}

/// Relations filled by a test, and a pipeline to run over them. Relation 0 is the target.
class tile_runner_fixture : public ::testing::TestWithParam<mode> {
 protected:
  static constexpr relation_number target = 0;

  relation_number add_relation(std::uint32_t arity) {
    storage::relation_options options;
    options.mode = GetParam().storage;
    options.workers = GetParam().workers;
    options.candidate_rows = 3000;
    relations_.push_back(std::make_unique<relation>(memory_, arity, options));
    return static_cast<relation_number>(relations_.size() - 1);
  }

  /// Adds a search by the first `key_lengths` columns of `order`; matches may bind all remaining columns.
  std::size_t add_index(relation_number number, std::vector<std::uint32_t> order,
                        std::vector<std::uint32_t> key_lengths) {
    storage::index_layout layout;
    layout.order = std::move(order);
    layout.key_lengths = std::move(key_lengths);
    layout.positions = GetParam().storage == storage_mode::hisa;
    if (!layout.positions) {
      for (std::uint32_t c = 0; c < relations_[number]->arity(); ++c) layout.stored.push_back(c);
    }
    return relations_[number]->add_index(layout);
  }

  /// Inserts rows, which become the delta; every index gets one more run.
  void append(relation_number number, const std::vector<tuple>& rows) {
    relation& filled = *relations_[number];
    const auto scratch = std::make_unique<storage::insert_scratch>();
    for (std::size_t begin = 0; begin < rows.size(); begin += tile_rows) {
      const std::size_t end = std::min<std::size_t>(rows.size(), begin + tile_rows);
      std::vector<std::vector<word>> columns(filled.arity());
      std::vector<const word*> values;
      for (std::uint32_t c = 0; c < filled.arity(); ++c) {
        for (std::size_t row = begin; row < end; ++row) columns[c].push_back(rows[row][c]);
      }
      for (const auto& column : columns) values.push_back(column.data());
      while (!filled.has_room()) filled.make_room(backend_);
      filled.insert<storage::exclusive_access>(values.data(), static_cast<std::uint32_t>(end - begin), *scratch, 0);
    }
    filled.settle(backend_);
    filled.advance();
  }
  void refresh(relation_number number, std::size_t index) { relations_[number]->refresh_index(backend_, index); }

  /// Returns the rows of a part. Parts are compared as sets, because hisa mode orders the delta.
  [[nodiscard]] tuples rows_in(relation_number number, row_part part) const {
    const relation& source = *relations_[number];
    const part_rows rows = rows_of(source, part);
    tuples result;
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      tuple values;
      for (std::uint32_t c = 0; c < source.arity(); ++c) values.push_back(source.column(c)[row]);
      EXPECT_TRUE(result.insert(std::move(values)).second);
    }
    return result;
  }

  struct outcome {
    tuples rows;  ///< of the target, after its advance
    std::uint64_t candidates = 0;
    std::uint64_t fresh = 0;
  };

  outcome run(const pipeline& program, const std::atomic<bool>* stop = nullptr) {
    outcome result;
    const std::uint64_t rows = input_rows(program, relations_);
    relation& into = *relations_[program.target];
    const auto make_room = [&](std::uint64_t room, const auto&... helpers) {
      into.make_room(backend_, room, helpers...);
    };
    const auto folded = memory_of_folds(program, memory_);
    waiting_matches waiting;
    match_sharer* const sharer = GetParam().shared == 0 ? nullptr : &waiting;
    if (GetParam().workers == 1) {
      tile_runner<storage::exclusive_access> runner(program, relations_, 0, *scratch_[0], gate_, stop, nullptr,
                                                    folded.get(), sharer);
      for (std::uint64_t begin = 0; begin < rows; begin += GetParam().piece) {
        runner.run(begin, std::min(rows, begin + GetParam().piece), make_room);
      }
      run_shared(waiting, [&](const shared_matches& left, std::uint64_t begin, std::uint64_t end) {
        runner.run_matches(left, begin, end, make_room);
      });
      result.candidates = runner.candidates();
      result.fresh = runner.fresh();
    } else {
      std::vector<std::optional<tile_runner<storage::concurrent_access>>> runners(GetParam().workers);
      const auto on = [&](unsigned worker) -> auto& {
        if (!runners[worker])
          runners[worker].emplace(program, relations_, worker, *scratch_[worker], gate_, stop, nullptr, folded.get(),
                                  sharer);
        return *runners[worker];
      };
      backend_.for_each_tile(rows, GetParam().piece, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        on(worker).run(begin, end, make_room);
      });
      run_shared(waiting, [&](const shared_matches& left, std::uint64_t first, std::uint64_t last) {
        backend_.for_each_tile(last - first, 7, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
          on(worker).run_matches(left, first + begin, first + end, make_room);
        });
      });
      for (const auto& runner : runners) {
        if (!runner) continue;
        result.candidates += runner->candidates();
        result.fresh += runner->fresh();
      }
    }
    into.settle(backend_);
    into.advance();
    result.rows = rows_in(program.target, row_part::all);
    return result;
  }

  /// Calls run(matches, begin, end) until no worker leaves matches.
  template <class Run>
  static void run_shared(waiting_matches& waiting, const Run& run) {
    for (std::vector<shared_matches> left = waiting.take(); !left.empty(); left = waiting.take()) {
      for (const shared_matches& one : left) {
        for (std::uint64_t begin = 0; begin < one.size(); begin += GetParam().shared)
          run(one, begin, std::min(one.size(), begin + GetParam().shared));
      }
    }
  }

  void expect(const outcome& result, const tuples& expected, std::uint64_t candidates) {
    EXPECT_EQ(result.rows, expected);
    EXPECT_EQ(result.candidates, candidates);
    if (GetParam().storage == storage_mode::hash) EXPECT_EQ(result.fresh, expected.size());
  }

  static segment scan_of(relation_number source, std::vector<binding> bindings, row_part part = row_part::all) {
    segment made;
    made.kind = expansion_kind::scan;
    made.part = part;
    made.source = source;
    made.bindings = std::move(bindings);
    return made;
  }
  static segment match_of(relation_number source, std::size_t index, std::size_t level,
                          std::vector<register_number> keys, std::vector<binding> bindings,
                          std::vector<register_number> carried, row_part part = row_part::all) {
    segment made = scan_of(source, std::move(bindings), part);
    made.kind = expansion_kind::match;
    made.index = index;
    made.level = level;
    made.keys = std::move(keys);
    made.carried = std::move(carried);
    return made;
  }
  static pipeline pipeline_of(std::vector<segment> segments, std::vector<register_number> head,
                              std::uint32_t slot_count, std::vector<word> constants = {}) {
    pipeline made;
    made.segments = std::move(segments);
    made.head = std::move(head);
    made.target = target;
    made.slot_count = slot_count;
    made.constants = std::move(constants);
    return made;
  }

  relation_list<relation>& relations() { return relations_; }
  worker_gate& gate() { return gate_; }
  auto& backend() { return backend_; }
  tile_scratch& scratch() { return *scratch_.front(); }

 private:
  static std::vector<std::unique_ptr<tile_scratch>> make_scratch() {
    std::vector<std::unique_ptr<tile_scratch>> made;
    for (unsigned worker = 0; worker < GetParam().workers; ++worker) made.push_back(std::make_unique<tile_scratch>());
    return made;
  }

  backend::cpu::thread_backend backend_{GetParam().workers};
  backend::host_memory memory_;
  relation_list<relation> relations_;

  std::vector<std::unique_ptr<tile_scratch>> scratch_ = make_scratch();
  worker_gate gate_{GetParam().workers};
};

/// Returns n distinct pairs (i % keys, i).
inline std::vector<tuple> pairs(word n, word keys, word first = 0) {
  std::vector<tuple> rows;
  for (word i = first; i < first + n; ++i) rows.push_back({i % keys, i});
  return rows;
}

inline auto all_modes() {
  return ::testing::Values(mode{storage_mode::hash, 1, 1u << 20}, mode{storage_mode::hisa, 1, 700},
                           mode{storage_mode::hash, 3, 37}, mode{storage_mode::hisa, 3, 37},
                           mode{storage_mode::hash, 1, 700, 1000}, mode{storage_mode::hash, 3, 37, 600},
                           mode{storage_mode::hisa, 3, 700, 1});
}

}  // namespace gpulog::kernels::tile_runner_tests
