#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "exec/calibration.hpp"
#include "kernels/join/tile_scratch.hpp"
#include "storage/calibration.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::exec {

/// Inserts the rows of given columns into relations, with several workers where many rows are distinct.
template <class Backend>
class row_inserter {
 public:
  using relation = storage::relation;
  using worker_scratch = std::vector<std::unique_ptr<kernels::tile_scratch>>;

  /// @param scratch by worker
  /// @param range minimum number of rows per worker
  row_inserter(Backend& backend, worker_scratch& scratch, std::uint64_t range)
      : backend_(&backend), scratch_(&scratch), range_elements_(range) {}

  /// Loads rows in file order, with one worker. No result depends on the order, but adjacent rows stay together.
  void load(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
    if (backend_->workers() > 1 && target.arity() != 0 && target.inserts_at_once() && rows >= 2 * range_elements_)
      return load_rows_at_once(target, columns, rows);
    const auto present = [&] { return target.rows() + target.appended_rows(); };
    const std::uint64_t first = present();
    const auto room = [&](std::uint32_t n, std::uint64_t row) {
      if (target.has_room(n)) return;
      // While all rows are new, allocates once instead of copying a set from size to size.
      const bool all_new = target.inserts_at_once() && row != 0 && present() - first == row;
      if (all_new) make_room_at_once(target, rows - row);
      while (!target.has_room(n)) target.make_room(*backend_, n);
    };
    load_tiles<storage::exclusive_access>(target, columns, 0, rows, 0, room);
  }

 private:
  /// Makes space for all rows, or for the maximum before a set may become packed words; no effect if memory is short.
  void make_room_at_once(relation& target, std::uint64_t rows) {
    constexpr std::uint64_t most = storage::calibration::least_packed_bytes / sizeof(std::uint64_t) / 2;
    try {
      target.make_room(*backend_, std::min(rows, most));
    } catch (const backend::memory_exceeded&) {
    }
  }

  /// Loads rows [begin, end). Calls room(n, row) before each tile.
  template <class Access, class Room>
  void load_tiles(relation& target, const std::vector<const word*>& columns, std::uint64_t begin, std::uint64_t end,
                  unsigned worker, const Room& room) {
    std::vector<const word*> tile(columns.size());
    for (std::uint64_t row = begin; row < end; row += storage::tile_rows) {
      const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(storage::tile_rows, end - row));
      for (std::size_t c = 0; c < columns.size(); ++c) tile[c] = columns[c] + row;
      room(n, row);
      target.template insert<Access>(tile.data(), n, (*scratch_)[worker]->insert, worker);
      if constexpr (std::is_same_v<Access, storage::exclusive_access>) target.choose_in_order();
    }
  }

  /// Loads in rounds, because the number of distinct rows is unknown. Once most rows are new, the rest is one round;
  /// until then a round loads three times the existing rows, so that growth moves a third of what it adds.
  void load_rows_at_once(relation& target, const std::vector<const word*>& columns, std::uint64_t rows) {
    const auto present = [&] { return target.rows() + target.appended_rows(); };
    const std::uint64_t before = present();
    const std::uint64_t room_beside = relation::room_for(backend_->workers());
    for (std::uint64_t begin = 0; begin < rows;) {
      std::uint64_t n = std::min(rows - begin, std::max(calibration::first_rows_at_once, 3 * present()));
      const auto fresh = static_cast<double>(present() - before);
      const bool most_are_new = begin != 0 && fresh >= static_cast<double>(begin) * calibration::new_share_of_one_round;
      if (most_are_new) {
        make_room_at_once(target, rows - begin + room_beside);
        if (target.has_room(rows - begin + room_beside)) n = rows - begin;
      }
      while (!target.has_room(n + room_beside)) target.make_room(*backend_, n + room_beside);
      std::vector<const word*> round = columns;
      for (const word*& column : round) column += begin;
      const std::uint64_t piece = std::max<std::uint64_t>(storage::tile_rows, range_elements_ / 2);
      backend_->for_each_tile(n, piece, [&](unsigned worker, std::uint64_t first, std::uint64_t behind) {
        load_tiles<storage::concurrent_access>(target, round, first, behind, worker,
                                               [](std::uint32_t, std::uint64_t) {});
      });
      begin += n;
    }
  }

  Backend* backend_;
  worker_scratch* scratch_;
  std::uint64_t range_elements_;
};

}  // namespace gpulog::exec
