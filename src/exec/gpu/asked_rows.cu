#include "exec/gpu/asked_rows.hpp"

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "storage/representation/kept_row_visits.cuh"

namespace gpulog::exec {

using backend::array;
using backend::fresh_memory;
using storage::gpu::kept_question;
using storage::gpu::kept_rows_view;
using storage::gpu::numbered_columns;
using storage::gpu::visit_rows;

namespace {

/// Number of rows of a source; 0 if the source is not marked.
struct marked_rows {
  const kept_rows_view* kept;
  const std::uint32_t* marks;  // null: all sources
  std::uint64_t sources;
  __device__ std::uint64_t operator()(std::uint64_t source) const {
    if (source == sources) return 0;
    const bool is_marked = marks == nullptr || (marks[source / word_bits] >> source % word_bits & 1) != 0;
    return is_marked ? kept->size(static_cast<std::uint32_t>(source)) : 0;
  }
};
struct has_mark {
  const std::uint32_t* marks;
  __device__ bool operator()(std::uint32_t number) const {
    return (marks[number / word_bits] >> number % word_bits & 1) != 0;
  }
};
struct add_to_counts {
  std::uint32_t* counts;  // by node
  __device__ void operator()(std::uint32_t /*source*/, std::uint32_t number, std::uint32_t bits) const {
    for (; bits != 0; bits &= bits - 1) atomicAdd(counts + number * word_bits + backend::gpu::lowest_bit(bits), 1U);
  }
};
struct counted_rows {
  const std::uint32_t* counts;
  std::uint64_t nodes;
  __device__ std::uint64_t operator()(std::uint64_t node) const { return node == nodes ? 0 : counts[node]; }
};
/// Lists the sources of the nodes of a piece.
struct list_sources_of_nodes {
  const std::uint64_t* places;
  std::uint64_t first;  // nodes [first, last)
  std::uint64_t last;
  std::uint64_t first_row;
  std::uint32_t* filled;  // by node of the piece
  std::uint32_t* sources;
  __device__ void operator()(std::uint32_t source, std::uint32_t number, std::uint32_t bits) const {
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t node = number * word_bits + backend::gpu::lowest_bit(bits);
      if (node < first || node >= last) continue;
      sources[places[node] - first_row + atomicAdd(filled + (node - first), 1U)] = source;
    }
  }
};
struct value_of_number {
  const std::uint32_t* numbers;
  const word* values;
  word* out;
  __device__ void operator()(std::uint64_t i) const { out[i] = values[numbers[i]]; }
};

}  // namespace

asked_rows::asked_rows(const backend::gpu::device_context& context, backend::memory_resource& resource,
                       storage::gpu::device_row_matrix& kept, side by)
    : context_(&context),
      resource_(&resource),
      kept_(&kept),
      by_(by),
      view_(kept.lookup(kept_question::tuple)),
      numbers_(by == side::sources ? kept.view().source_count : kept.view().node_count) {}

std::uint32_t* asked_rows::make_marks() {
  const std::uint64_t words = by_ == side::nodes ? kept_->view().node_words() : (numbers_ + word_bits - 1) / word_bits;
  marks_ = array<std::uint32_t>(*resource_, words);
  return marks_.data();
}

void asked_rows::count() {
  places_ = array<std::uint64_t>(*resource_, numbers_ + 2);
  if (by_ == side::sources) {
    count_sources();
  } else {
    count_nodes();
  }
  std::uint64_t known[2];
  context_->read(places_.data() + numbers_, known, sizeof known);
  rows_ = known[0];
  listed_count_ = known[1];
}

void asked_rows::count_sources() {
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum_of(scratch, bytes, marked_rows{view_, marks_.data(), numbers_}, places_.data(),
                                   numbers_ + 1, context_->stream());
  });
  if (marks_.size() == 0) return;
  listed_ = array<std::uint32_t>(*resource_, numbers_, fresh_memory::anything);
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::select_if(scratch, bytes, listed_.data(), places_.data() + numbers_ + 1, numbers_,
                            has_mark{marks_.data()}, context_->stream());
  });
}

void asked_rows::count_nodes() {
  array<std::uint32_t> counts(*resource_, kept_->view().node_words() * word_bits);
  visit_rows(context_->stream(), view_, kept_->view().source_count, marks_.data(), add_to_counts{counts.data()});
  backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
    backend::gpu::exclusive_sum_of(scratch, bytes, counted_rows{counts.data(), numbers_}, places_.data(), numbers_ + 1,
                                   context_->stream());
  });
}

std::vector<asked_rows::piece> asked_rows::pieces(std::uint64_t most_rows) const {
  if (rows_ == 0) return {};
  if (rows_ <= most_rows) return {{0, numbers_, 0, rows_}};
  std::vector<std::uint64_t> places(numbers_ + 1);
  context_->read(places_.data(), places.data(), places.size() * sizeof(std::uint64_t));
  std::vector<piece> made;
  for (std::uint64_t first = 0, last = 0; first < numbers_; first = last) {
    const auto end = std::upper_bound(places.begin() + static_cast<std::ptrdiff_t>(first) + 1, places.end(),
                                      places[first] + most_rows);
    last = std::max(first + 1, static_cast<std::uint64_t>(end - places.begin()) - 1);
    if (places[last] != places[first]) made.push_back({first, last, places[first], places[last] - places[first]});
  }
  return made;
}

std::vector<array<word>> asked_rows::columns_of(const piece& part, std::uint64_t wanted) {
  if (wanted == 0) return std::vector<array<word>>(kept_->view().sources.arity + kept_->view().nodes.arity);
  if (by_ == side::nodes) return columns_by_node(part, wanted);
  storage::gpu::device_row_matrix::source_rows rows = {.places = places_.data(),
                                                       .first = part.first,
                                                       .last = part.last,
                                                       .first_row = part.first_row,
                                                       .rows = part.rows,
                                                       .wanted_columns = wanted};
  if (listed_.size() != 0 && part.rows == rows_) {
    rows.listed = listed_.data();
    rows.first = 0;
    rows.last = listed_count_;
  }
  return kept_->columns_of(rows);
}

std::vector<array<word>> asked_rows::columns_by_node(const piece& part, std::uint64_t wanted) {
  array<std::uint32_t> filled(*resource_, part.last - part.first);
  array<std::uint32_t> sources(*resource_, part.rows, fresh_memory::anything);
  visit_rows(
      context_->stream(), view_, kept_->view().source_count, marks_.data(),
      list_sources_of_nodes{places_.data(), part.first, part.last, part.first_row, filled.data(), sources.data()});
  const numbered_columns& numbered = kept_->view().sources;
  std::vector<array<word>> made(numbered.arity + kept_->view().nodes.arity);
  add_columns_of_numbers(*context_, *resource_, numbered, std::move(sources), part.rows, wanted, made);
  return made;
}

void add_columns_of_numbers(const backend::gpu::device_context& context, backend::memory_resource& resource,
                            const numbered_columns& numbered, array<std::uint32_t> numbers, std::uint64_t rows,
                            std::uint64_t wanted, std::vector<array<word>>& made) {
  for (std::uint32_t c = 0; c < numbered.arity; ++c) {
    if ((wanted >> numbered.columns[c] & 1) == 0) continue;
    array<word>& column = made[numbered.columns[c]];
    if (numbered.slots == nullptr) {
      column = std::move(numbers);
      return;  // only one column has numbers
    }
    column = array<word>(resource, rows, fresh_memory::anything);
    backend::gpu::for_each(context.stream(), rows, value_of_number{numbers.data(), numbered.values[c], column.data()});
  }
}

}  // namespace gpulog::exec
