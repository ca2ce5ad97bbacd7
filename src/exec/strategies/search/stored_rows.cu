#include "exec/strategies/search/stored_rows.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "backend/gpu/staging_ring.hpp"
#include "storage/representation/kept_row_visits.cuh"

namespace gpulog::exec {

using backend::array;
using storage::gpu::kept_question;
using storage::gpu::kept_rows_view;
using storage::gpu::numbered_columns;

namespace {

constexpr std::uint64_t rows_of_a_piece = 1U << 22;

struct note_used_nodes {
  std::uint32_t* used;
  __device__ void operator()(std::uint32_t /*source*/, std::uint32_t number, std::uint32_t bits) const {
    // Most rows add no new nodes.
    const std::uint32_t there = *static_cast<const volatile std::uint32_t*>(used + number);
    if ((there & bits) != bits) atomicOr(used + number, bits);
  }
};

numbered_columns numbered_columns_of(const device_numbering* numbering, std::uint64_t numbers,
                                     const std::vector<std::uint32_t>& columns) {
  numbered_columns made;
  made.size = numbers;
  if (numbering != nullptr) made = numbering->view();
  made.arity = static_cast<std::uint32_t>(columns.size());
  std::copy(columns.begin(), columns.end(), made.columns);
  return made;
}

/// Writes columns on the host.
class copying_cursor final : public storage::row_cursor {
 public:
  explicit copying_cursor(const std::vector<std::unique_ptr<word[]>>& columns) : columns_(columns) {}
  void write(std::uint64_t first, std::uint64_t n, word* const* columns) override {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns[c] != nullptr) std::copy_n(columns_[c].get() + first, n, columns[c]);
    }
  }

 private:
  const std::vector<std::unique_ptr<word[]>>& columns_;
};

}  // namespace

/// The device materializes the columns of a piece, then copies the piece.
class stored_rows::copied_piece final : public storage::row_piece {
 public:
  explicit copied_piece(stored_rows& rows) : rows_(rows) {
    for (std::size_t c = 0; c < rows.arity(); ++c)
      columns_.push_back(std::make_unique_for_overwrite<word[]>(rows.largest_piece_));
  }
  void make(std::uint32_t number) override {
    const std::lock_guard<std::mutex> alone(rows_.reading_);
    rows_.context_.use();  // this may run on a different host thread
    const std::uint64_t first_row = rows_.piece_rows_[number];
    const std::uint64_t n = rows_.piece_rows_[number + 1ULL] - first_row;
    rows_.write({rows_.places().data(), nullptr, rows_.piece_sources_[number], rows_.piece_sources_[number + 1ULL],
                 first_row, n},
                rows_.piece_columns_);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      backend::gpu::download(rows_.context_, rows_.piece_columns_[c].data(), columns_[c].get(), n);
  }
  [[nodiscard]] std::unique_ptr<storage::row_cursor> cursor() const override {
    return std::make_unique<copying_cursor>(columns_);
  }

 private:
  stored_rows& rows_;
  std::vector<std::unique_ptr<word[]>> columns_;
};

stored_rows::stored_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                         const side& sources, const side& targets)
    : device_row_matrix(sources.columns, targets.columns), context_(context), resource_(resource) {
  view_.sources = numbered_columns_of(sources.numbering, sources.count, sources.columns);
  view_.nodes = numbered_columns_of(targets.numbering, targets.count, targets.columns);
  view_.source_count = sources.count;
  view_.node_count = targets.count;
}

stored_rows::column_values stored_rows::values_of(std::uint32_t column) const {
  const auto found = std::find(source_columns().begin(), source_columns().end(), column);
  if (found != source_columns().end())
    return {view_.sources.values[found - source_columns().begin()], view_.source_count};
  const auto target = std::find(target_columns().begin(), target_columns().end(), column);
  return {view_.nodes.values[target - target_columns().begin()], view_.node_count};
}

stored_rows::columns_type stored_rows::make_columns(std::uint64_t rows, std::uint64_t wanted) const {
  columns_type made(arity());
  resource_.prepare(std::min(made.size(), static_cast<std::size_t>(std::popcount(wanted))), rows * sizeof(word));
  for (std::size_t c = 0; c < made.size(); ++c) {
    if ((wanted >> c & 1) != 0) made[c] = array<word>(resource_, rows, backend::fresh_memory::anything);
  }
  return made;
}

stored_rows::columns_type stored_rows::columns() {
  return columns_of({.places = places().data(), .last = view_.source_count, .rows = rows()});
}

stored_rows::columns_type stored_rows::columns_of(const source_rows& wanted) {
  columns_type made = make_columns(wanted.rows, wanted.wanted_columns);
  write(wanted, made);
  return made;
}

std::span<const std::uint64_t> stored_rows::pieces() {
  if (piece_columns_.empty()) {
    std::vector<std::uint64_t> all(places().size());
    context_.read(places().data(), all.data(), places().bytes());
    piece_rows_ = piece_sources_ = {0};
    for (std::uint64_t source = 0; source + 1 < all.size(); ++source) {
      const std::uint64_t here = all[source + 1] - piece_rows_.back();
      if (here < rows_of_a_piece && source + 2 != all.size()) continue;
      largest_piece_ = std::max(largest_piece_, here);
      piece_rows_.push_back(all[source + 1]);
      piece_sources_.push_back(source + 1);
    }
    piece_columns_ = make_columns(largest_piece_);
  }
  return piece_rows_;
}

std::unique_ptr<storage::row_piece> stored_rows::make_piece() { return std::make_unique<copied_piece>(*this); }

const kept_rows_view* stored_rows::lookup(kept_question asked) {
  if (views_.size() == 0) {
    constexpr std::size_t questions = static_cast<std::size_t>(kept_question::node) + 1;
    show(view_);
    views_ = array<kept_rows_view>(resource_, questions, backend::fresh_memory::anything);
    for (std::size_t i = 0; i < questions; ++i) put_view(static_cast<kept_question>(i));
  }
  if (asked == kept_question::node && used_nodes_.size() == 0) find_used_nodes();
  return views_.data() + static_cast<std::size_t>(asked);
}

void stored_rows::put_view(kept_question asked) {
  kept_rows_view shown = view_;
  shown.asked = asked;
  shown.used_nodes = used_nodes_.data();
  backend::gpu::copy_async(views_.data() + static_cast<std::size_t>(asked), &shown, sizeof shown,
                           backend::gpu::direction::host_to_device, context_.stream());
  context_.synchronize();
}

void stored_rows::find_used_nodes() {
  used_nodes_ = array<std::uint32_t>(resource_, view_.node_words());
  visit_rows(context_.stream(), lookup(kept_question::tuple), view_.source_count, nullptr,
             note_used_nodes{used_nodes_.data()});
  put_view(kept_question::node);
}

}  // namespace gpulog::exec
