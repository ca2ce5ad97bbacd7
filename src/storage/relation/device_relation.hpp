#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "backend/array.hpp"
#include "backend/gpu/device.hpp"
#include "storage/indexes/small_runs.hpp"
#include "storage/indexes/sorted_index.hpp"
#include "storage/relation/device_columns.hpp"
#include "storage/representation/device_best.hpp"
#include "storage/representation/device_factorized.hpp"
#include "storage/representation/device_set.hpp"
#include "storage/representation/value_order.hpp"

namespace gpulog::storage::gpu {

/// A sorted run in device memory: rows [begin, end) of the relation, sorted by the layout's keys.
class device_run {
 public:
  /// @param small builds runs of few rows, when it is flushed; null: they are built at once like others
  device_run(memory_resource& resource, const index_layout& layout, small_run_builder* small = nullptr)
      : layout_(&layout), small_(small), stored_(resource) {
    for (std::size_t i = 0; i < layout.key_lengths.size(); ++i) levels_.emplace_back(resource);
  }
  ~device_run() {
    if (small_ != nullptr && collection_ == small_->collection()) flush_small_runs(*small_);  // what is built goes now
  }
  device_run(const device_run&) = delete;
  device_run& operator=(const device_run&) = delete;
  void build(const backend::gpu::device_context& context, memory_resource& resource, const column_pointers& columns,
             std::uint64_t begin, std::uint64_t end);
  /// The same without sorting (counted_runs.hpp), when the builder is flushed, if it has one and the layout allows it;
  /// only what a view finds is there then. @param bounds a column's values are smaller; empty: not known
  void build_unsorted(const backend::gpu::device_context& context, memory_resource& resource,
                      const column_pointers& columns, std::uint64_t begin, std::uint64_t end,
                      const std::vector<std::uint64_t>& bounds);
  [[nodiscard]] run_view view(std::size_t level) const;
  /// How many keys there are; a view of a small run only has an upper bound. Waits for the device.
  [[nodiscard]] std::uint64_t exact_groups(const backend::gpu::device_context& context, std::size_t number) const {
    return context.read_counter(levels_[number].count.data());
  }
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t rows() const { return end_ - begin_; }
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct level {
    explicit level(memory_resource& resource)
        : direct(resource), numbered(resource), table(resource), first(resource), keys(resource), count(resource) {}
    [[nodiscard]] std::uint64_t bytes() const {
      return direct.bytes() + numbered.bytes() + table.bytes() + first.bytes() + keys.bytes();
    }
    array<std::uint32_t> direct;
    array<std::uint64_t> numbered;
    array<key_slot> table;
    array<std::uint32_t> first;
    array<word> keys;            // [length][key_stride]
    array<std::uint64_t> count;  // of groups
    std::uint64_t groups = 0;    // an upper bound in small runs
  };

  /// Leaves it to the builder, if it can do that. @return whether it can
  bool build_small(memory_resource& resource, const column_pointers& columns);
  bool count_rows(memory_resource& resource, const column_pointers& columns, const std::vector<std::uint64_t>& bounds);
  static void flush_small_runs(small_run_builder& small) noexcept;
  void build_level(const backend::gpu::device_context& context, memory_resource& resource,
                   const column_pointers& columns, const std::uint32_t* rows, std::size_t number);

  const index_layout* layout_;
  small_run_builder* small_;
  std::uint64_t collection_ = UINT64_MAX;  // that the run was added to
  std::vector<level> levels_;
  array<word> stored_;  // [stored column][rows]
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

/// As sorted_index: runs whose sizes fall geometrically, and delta apart. Runs hold consecutive rows, so two are merged
/// by sorting their rows again: a radix sort streams at a rate that a merge of keys and columns does not beat.
class device_index {
 public:
  device_index(memory_resource& resource, index_layout layout, small_run_builder* small)
      : resource_(&resource), layout_(std::move(layout)), small_(small) {}
  /// @param bounds a column's values are smaller; empty: not known
  void refresh(const backend::gpu::device_context& context, const column_pointers& columns, std::uint64_t old_rows,
               std::uint64_t rows, const std::vector<std::uint64_t>& bounds = {});
  [[nodiscard]] std::vector<run_view> views(bool with_old, bool with_delta, std::size_t level) const;
  [[nodiscard]] const index_layout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  using run_pointer = std::unique_ptr<device_run>;
  struct source {
    const column_pointers& columns;
    const std::vector<std::uint64_t>& bounds;
    bool grows;  ///< runs are replaced by others soon
  };
  run_pointer make_run(const backend::gpu::device_context& context, const source& from, std::uint64_t begin,
                       std::uint64_t end);

  memory_resource* resource_;
  index_layout layout_;
  small_run_builder* small_;
  std::vector<run_pointer> old_;
  std::vector<run_pointer> delta_;
  std::uint64_t indexed_ = 0;
  std::uint64_t delta_begin_ = 0;
};

/// storage::relation in device memory, in the fused way. The number of rows is read back when it is needed.
class device_relation : public device_columns {
 public:
  /// @param small for indexes; null: none
  device_relation(const backend::gpu::device_context& context, memory_resource& resource, std::uint32_t arity,
                  set_choice sets = set_choice::automatic, small_run_builder* small = nullptr);

  [[nodiscard]] std::uint64_t bytes() const;

  /// Candidates that may be inserted before the set or the columns are full.
  [[nodiscard]] std::uint64_t room() const { return arity_ == 0 ? UINT64_MAX : limit_ - tail_; }
  /// Doubles set and columns until that many more fit. @throws memory_exceeded
  /// @param keep_set whether kernels may go on reading the set as it was
  void grow(std::uint64_t extra, bool keep_set);
  /// Nothing reads the columns and the set any more as they were before they grew.
  void release_outgrown() {
    outgrown_columns_.clear();
    std::visit([](auto& kind) { kind.release_outgrown(); }, kept_by_);
  }
  /// Before the first row: no tuple will be inserted twice, and none be looked up. There is no tuple set then.
  void skip_set() { only_appends_ = arity_ != 0 && !keeps_best(); }
  /// Before the first row: the same with a set, where that costs less.
  void use_set() { only_appends_ = false; }
  [[nodiscard]] bool only_appends() const { return only_appends_; }
  [[nodiscard]] bool has_set() const { return !only_appends_; }
  /// Appends tuples that are known to be new, of columns on the device, to a relation that only appends.
  /// @throws memory_exceeded
  void append(const std::vector<const word*>& columns, std::uint64_t rows);
  /// Before the first row, as storage::relation's: of numbers, with a key of two columns at most.
  void keep_best(std::uint32_t column, const value_order& order);
  [[nodiscard]] bool keeps_best() const { return std::holds_alternative<device_best>(kept_by_); }
  /// Rows that subsumptions take away otherwise: it comes here when that is done.
  void make_erasable() {}
  /// Rows, with those that better ones have replaced until compact_best().
  [[nodiscard]] std::uint64_t tuples() const { return rows_; }
  /// Ends a phase: the number of rows is exact, and best values are in their rows.
  void settle();
  /// Rows that better ones have replaced leave the columns, and indexes are empty until their next refresh. After
  /// settle(). @param all however few they are
  void compact_best(bool all);
  /// As storage::relation's.
  void bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory);
  [[nodiscard]] const char* set_name() const {
    if (is_factorized()) return "factorized";
    return only_appends_ ? "none" : std::visit([](const auto& kind) { return kind.name(); }, kept_by_);
  }
  /// Which part of its rows it is asked to have room for at least.
  [[nodiscard]] std::uint64_t growth_share() const {
    return std::visit([](const auto& kind) { return kind.growth_share(); }, kept_by_);
  }
  /// For kernels. Of factorized rows: as make_lookup() left it.
  [[nodiscard]] set_view set() const;
  [[nodiscard]] bool is_packed() const { return arity_ <= 2; }
  [[nodiscard]] append_counter* counter() { return counter_.data(); }
  /// Rows, with those appended; an upper bound after expect().
  [[nodiscard]] std::uint64_t tail() const { return tail_; }
  /// Rows that set and columns hold.
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  /// Says how many rows there are now, as a kernel reported it.
  void set_tail(std::uint64_t rows) {
    tail_ = rows;
    forget_host_columns();
  }
  /// Says how far iterations that a kernel ran have come.
  void set_sizes(std::uint64_t old_rows, std::uint64_t rows, std::uint64_t tail) {
    old_rows_ = old_rows;
    rows_ = rows;
    set_tail(tail);
  }
  /// At most that many candidates are being inserted: until read_tail(), room() counts them as rows.
  void expect(std::uint64_t candidates) {
    tail_ += candidates;
    tail_is_bound_ = true;
  }
  /// Makes sure that the number of rows is exact.
  void read_tail();
  /// Inserts candidates that lie in columns of their own: of tuples wider than a slot. Needs room() >= n.
  void insert_rows(const word* const* candidates, std::uint64_t n);

  std::size_t add_index(index_layout layout);
  [[nodiscard]] const device_index& index(std::size_t number) const { return *indexes_[number]; }
  void refresh_index(std::size_t number) {
    if (is_factorized()) return;
    indexes_[number]->refresh(*context_, columns(), old_rows_, rows_, value_bounds_);
  }
  void drop_index(std::size_t number);
  void drop_set();

  /// All rows at once, distinct, in columns of their own: the relation is complete, without a set and with empty
  /// indexes.
  void replace(std::vector<array<word>> columns, std::uint64_t rows);
  /// The same, with rows that get columns when they are needed. Until materialize() it can be counted, and read by
  /// pieces.
  void factorize(std::unique_ptr<device_factorized> rows);
  [[nodiscard]] bool is_factorized() const { return factorized_ != nullptr; }
  [[nodiscard]] device_factorized& factorized() const { return *factorized_; }
  /// Kernels may ask factorized rows from now on: for tuples, and for those with a key of these columns, if these are
  /// all sources or all nodes. @throws memory_exceeded
  void make_lookup(const std::vector<std::uint32_t>& key);
  /// For kernels, behind that: tuples by those columns alone. Others are not looked at.
  [[nodiscard]] set_view set_by_key(const std::vector<std::uint32_t>& key) const;
  /// Makes columns of factorized rows. @throws memory_exceeded
  void materialize();
  /// Of all rows, where there is none. @throws memory_exceeded
  void make_set();

  /// Takes over rows that are known to be distinct, for an empty relation that is only read: it has no set. columns: on
  /// the host.
  void adopt(const std::vector<const word*>& host_columns, std::uint64_t rows);

 private:
  [[nodiscard]] std::uint64_t limit_for(std::uint64_t extra) const;
  void require_room_for_columns(std::uint64_t limit) const;
  void grow_column(array<word>& column, std::uint64_t limit);
  void extend_set(std::uint64_t limit, std::uint64_t extra, bool keep_set);
  [[nodiscard]] set_view rows_in_columns() const;
  [[nodiscard]] bool fits_beside(std::uint64_t rows) const;
  void count_rows(std::uint64_t rows);
  /// Rows, with those appended, on both sides.
  void set_counter(std::uint64_t rows);

  small_run_builder* small_;
  std::variant<device_set, device_best> kept_by_;
  bool only_appends_ = false;                // no set at all
  std::vector<std::uint64_t> value_bounds_;  // by column, where they are known
  array<append_counter> counter_;            // the tail, counted by kernels
  bool tail_is_bound_ = false;               // the true one may be lower
  std::uint64_t limit_ = 0;                  // rows that set and columns hold
  std::vector<std::unique_ptr<device_index>> indexes_;
  std::unique_ptr<device_factorized> factorized_;  // null: rows are in the columns
  const kept_rows_view* lookup_ = nullptr;         // of these; null: nobody asks them
};

}  // namespace gpulog::storage::gpu
