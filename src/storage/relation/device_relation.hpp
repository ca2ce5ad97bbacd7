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
#include "storage/representation/device_row_matrix.hpp"
#include "storage/representation/device_set.hpp"
#include "storage/representation/value_order.hpp"

namespace gpulog::storage::gpu {

/// A sorted run in device memory: rows [begin, end) of the relation, sorted by the layout's keys.
class device_run {
 public:
  /// @param small builds runs of few rows in its flush(); null: all runs are built immediately
  device_run(memory_resource& resource, const index_layout& layout, small_run_builder* small = nullptr)
      : layout_(&layout), small_(small), stored_(resource) {
    for (std::size_t i = 0; i < layout.key_lengths.size(); ++i) levels_.emplace_back(resource);
  }
  ~device_run() {
    // Builds pending runs before their memory is released.
    if (small_ != nullptr && collection_ == small_->collection()) flush_small_runs(*small_);
  }
  device_run(const device_run&) = delete;
  device_run& operator=(const device_run&) = delete;
  void build(const backend::gpu::device_context& context, memory_resource& resource, const column_pointers& columns,
             std::uint64_t begin, std::uint64_t end);
  /// Builds the run without sorting (counted_runs.hpp), at the builder's flush(), if a builder exists and the layout
  /// permits; then only lookups through a view are available.
  /// @param bounds exclusive upper bounds of the columns' values; empty: unknown
  void build_unsorted(const backend::gpu::device_context& context, memory_resource& resource,
                      const column_pointers& columns, std::uint64_t begin, std::uint64_t end,
                      const std::vector<std::uint64_t>& bounds);
  [[nodiscard]] run_view view(std::size_t level) const;
  /// Returns the number of keys, of which a view of a small run has only an upper bound. Waits for the device.
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
        : direct(resource),
          numbered(resource),
          table(resource),
          first(resource),
          keys(resource),
          stored(resource),
          count(resource) {}
    [[nodiscard]] std::uint64_t bytes() const {
      return direct.bytes() + numbered.bytes() + table.bytes() + first.bytes() + keys.bytes() + stored.bytes();
    }
    array<std::uint32_t> direct;
    array<std::uint64_t> numbered;
    array<key_slot> table;
    array<std::uint32_t> first;
    array<word> keys;              // [length][key_stride]
    array<word> stored;            // [stored column, key column][rows] of a counted run, instead of stored_
    array<std::uint64_t> count;    // number of groups
    std::uint64_t groups = 0;      // an upper bound in small runs
    bool has_key_per_row = false;  // after the stored columns, instead of `keys`
  };

  /// Passes the run to the builder if possible.
  /// @return whether the builder accepted the run
  bool build_small(memory_resource& resource, const column_pointers& columns);
  bool count_rows(memory_resource& resource, const column_pointers& columns, const std::vector<std::uint64_t>& bounds);
  [[nodiscard]] bool has_few_numbers(std::uint32_t key_length, const std::vector<std::uint64_t>& bounds) const;
  static void flush_small_runs(small_run_builder& small) noexcept;
  void build_level(const backend::gpu::device_context& context, memory_resource& resource,
                   const column_pointers& columns, const std::uint32_t* rows, std::size_t number);

  const index_layout* layout_;
  small_run_builder* small_;
  std::uint64_t collection_ = UINT64_MAX;  // the collection that contains the run
  std::vector<level> levels_;
  array<word> stored_;  // [stored column][rows]
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

/// Like sorted_index: runs with geometrically decreasing sizes, and a separate run for delta. Runs hold consecutive
/// rows. Two runs are merged by building one run from the rows of both: on a device, building is at least as fast as a
/// merge of keys and columns.
class device_index {
 public:
  device_index(memory_resource& resource, index_layout layout, small_run_builder* small)
      : resource_(&resource), layout_(std::move(layout)), small_(small) {}
  /// @param bounds exclusive upper bounds of the columns' values; empty: unknown
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
    bool grows;  ///< whether runs will soon be replaced
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

/// storage::relation in device memory, in the fused form. The number of rows is read back on demand.
class device_relation : public device_columns {
 public:
  /// @param small for indexes; null: none
  device_relation(const backend::gpu::device_context& context, memory_resource& resource, std::uint32_t arity,
                  set_choice sets = set_choice::automatic, small_run_builder* small = nullptr);

  [[nodiscard]] std::uint64_t bytes() const;

  /// Returns how many candidates may be inserted before the set or the columns are full.
  [[nodiscard]] std::uint64_t room() const { return arity_ == 0 ? UINT64_MAX : limit_ - tail_; }
  /// Doubles set and columns until `extra` more rows fit.
  /// @param keep_set whether kernels may continue to read the old set
  /// @throws memory_exceeded
  void grow(std::uint64_t extra, bool keep_set);
  /// Frees the replaced columns and sets; no kernel may read them any more.
  void release_outgrown() {
    outgrown_columns_.clear();
    std::visit([](auto& kind) { kind.release_outgrown(); }, kept_by_);
  }
  /// Omits the tuple set: no tuple will be inserted twice or looked up. Call before the first row.
  void skip_set() { only_appends_ = arity_ != 0 && !keeps_best(); }
  /// Reverts skip_set(), for cases in which a set costs less. Call before the first row.
  void use_set() { only_appends_ = false; }
  [[nodiscard]] bool only_appends() const { return only_appends_; }
  [[nodiscard]] bool has_set() const { return !only_appends_; }
  /// Implements storage::relation::forget_appended().
  void forget_appended(std::uint64_t n) {
    if (only_appends_) set_counter(rows_ + n);
  }
  /// Appends tuples that are known to be new, from columns on the device, to a relation without a set.
  /// @throws memory_exceeded
  void append(const std::vector<const word*>& columns, std::uint64_t rows);
  /// Like storage::relation::keep_best(), for numbers and a key of at most two columns. Call before the first row.
  void keep_best(std::uint32_t column, const value_order& order);
  [[nodiscard]] bool keeps_best() const { return std::holds_alternative<device_best>(kept_by_); }
  /// Has no effect: the relation arrives here only after subsumptions have erased rows elsewhere.
  void make_erasable() {}
  /// Returns the number of rows, including rows replaced by better ones until compact_best().
  [[nodiscard]] std::uint64_t tuples() const { return rows_; }
  /// Ends a phase: the number of rows becomes exact, and best values are written to their rows.
  void settle();
  /// Removes rows replaced by better ones from the columns and empties the indexes until their next refresh. Call after
  /// settle().
  /// @param all compact even if few rows were replaced
  void compact_best(bool all);
  /// Like storage::relation::bound_values().
  void bound_values(const std::vector<std::uint64_t>& bounds, std::uint64_t memory);
  [[nodiscard]] const char* set_name() const {
    if (matrix_ != nullptr) return "factorized";
    return only_appends_ ? "none" : std::visit([](const auto& kind) { return kind.name(); }, kept_by_);
  }
  /// Returns the fraction of its rows for which room is requested at least.
  [[nodiscard]] std::uint64_t growth_share() const {
    return std::visit([](const auto& kind) { return kind.growth_share(); }, kept_by_);
  }
  /// Returns a view for kernels. Of a matrix: as prepared by make_lookup().
  [[nodiscard]] set_view set() const;
  [[nodiscard]] bool is_packed() const { return arity_ <= 2; }
  [[nodiscard]] append_counter* counter() { return counter_.data(); }
  /// Returns the number of rows, including appended ones.
  [[nodiscard]] std::uint64_t tail() const { return tail_; }
  /// Returns the number of rows that fit into set and columns.
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  /// Sets the number of rows reported by a kernel.
  void set_tail(std::uint64_t rows) {
    tail_ = rows;
    forget_host_columns();
  }
  /// Sets the sizes after iterations that ran within a kernel.
  void set_sizes(std::uint64_t old_rows, std::uint64_t rows, std::uint64_t tail) {
    old_rows_ = old_rows;
    rows_ = rows;
    set_tail(tail);
  }

  std::size_t add_index(index_layout layout);
  [[nodiscard]] const device_index& index(std::size_t number) const { return *indexes_[number]; }
  void refresh_index(std::size_t number) {
    if (matrix_ != nullptr) return;
    indexes_[number]->refresh(*context_, columns(), old_rows_, rows_, value_bounds_);
  }
  void drop_index(std::size_t number);
  void drop_set();

  /// Replaces the contents by distinct rows in the given columns: the relation is then complete, without a set and with
  /// empty indexes.
  void replace(std::vector<array<word>> columns, std::uint64_t rows);
  /// The same for a matrix, which has the rows until materialize().
  void replace(std::unique_ptr<device_row_matrix> matrix);
  /// Returns nullptr if the rows are in columns.
  [[nodiscard]] device_row_matrix* matrix() const { return matrix_.get(); }
  /// Prepares lookups of the matrix in kernels: of tuples, and of tuples with a key in these columns, if these are all
  /// source columns or all target columns.
  /// @throws memory_exceeded
  void make_lookup(const std::vector<std::uint32_t>& key);
  /// Returns a view for kernels after make_lookup(): lookups by these columns alone.
  [[nodiscard]] set_view set_by_key(const std::vector<std::uint32_t>& key) const;
  /// Converts a matrix to columns.
  /// @throws memory_exceeded
  void materialize();
  /// Builds the set of all rows unless it exists.
  /// @throws memory_exceeded
  void make_set();

  /// Takes over distinct rows into an empty relation that is only read and has no set.
  /// @param host_columns columns on the host
  void adopt(const std::vector<const word*>& host_columns, std::uint64_t rows);

 private:
  [[nodiscard]] std::uint64_t limit_for(std::uint64_t extra) const;
  void require_room_for_columns(std::uint64_t limit) const;
  void grow_column(array<word>& column, std::uint64_t limit);
  void extend_set(std::uint64_t limit, std::uint64_t extra, bool keep_set);
  [[nodiscard]] set_view rows_in_columns() const;
  [[nodiscard]] bool fits_beside(std::uint64_t rows) const;
  void count_rows(std::uint64_t rows);
  /// Sets the number of rows, including appended ones, on host and device.
  void set_counter(std::uint64_t rows);

  small_run_builder* small_;
  std::variant<device_set, device_best> kept_by_;
  bool only_appends_ = false;                // no set
  std::vector<std::uint64_t> value_bounds_;  // by column, if known
  array<append_counter> counter_;            // the tail, counted by kernels
  std::uint64_t limit_ = 0;                  // number of rows that fit into set and columns
  std::vector<std::unique_ptr<device_index>> indexes_;
  std::unique_ptr<device_row_matrix> matrix_;  // null: rows are in the columns
  const kept_rows_view* lookup_ = nullptr;     // view of matrix_ for lookups; null: not prepared
};

}  // namespace gpulog::storage::gpu
