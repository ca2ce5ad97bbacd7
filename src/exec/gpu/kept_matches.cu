// Joins with factorized rows by source or node, and scans of factorized rows: the requested rows are materialized piece
// by piece.

#include <algorithm>
#include <utility>

#include "backend/gpu/for_each.hpp"
#include "backend/gpu/primitives_by_functor.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/asked_rows.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "exec/gpu/row_counts.hpp"
#include "kernels/join/matches.cuh"
#include "storage/representation/kept_rows.cuh"

namespace gpulog::kernels::gpu {

using storage::gpu::kept_rows_view;
using storage::gpu::numbered_columns;

/// The source or node that an input row requests.
struct asked_number {
  const kept_rows_view* kept = nullptr;
  bool is_node = false;
  const word* const* keys = nullptr;  ///< one column per key word; null: a constant
  const word* constants = nullptr;    ///< by key word
  std::uint32_t key_columns[numbered_columns::most] = {};
  std::uint32_t key_count = 0;
  std::uint64_t first_row = 0;
  __device__ std::uint32_t operator()(std::uint64_t row) const {
    word tuple[numbered_columns::most];
    for (std::uint32_t k = 0; k < key_count; ++k)
      tuple[key_columns[k]] = keys[k] == nullptr ? constants[k] : keys[k][first_row + row];
    return (is_node ? kept->nodes : kept->sources).find(tuple);
  }
};

namespace {

struct store_source_degree {
  asked_number asked;
  std::uint64_t rows;
  std::uint64_t* degrees;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint32_t source = row == rows ? numbered_columns::none : asked(row);
    degrees[row] = source == numbered_columns::none ? 0 : asked.kept->size(source);
  }
};
struct mark_number {
  asked_number asked;
  std::uint32_t* numbers;  ///< by row
  std::uint32_t* marks;    ///< bits by number
  __device__ void operator()(std::uint64_t row) const {
    const std::uint32_t number = numbers[row] = asked(row);
    if (number == numbered_columns::none) return;
    const std::uint32_t bit = 1U << number % word_bits;
    std::uint32_t* const own = marks + number / word_bits;
    if ((*static_cast<const volatile std::uint32_t*>(own) & bit) == 0) atomicOr(own, bit);
  }
};
struct store_placed_degree {
  const std::uint32_t* numbers;  ///< by row
  const std::uint64_t* places;
  std::uint64_t rows;
  std::uint64_t* degrees;
  __device__ void operator()(std::uint64_t row) const {
    const std::uint32_t number = row == rows ? numbered_columns::none : numbers[row];
    degrees[row] = number == numbered_columns::none ? 0 : places[number + 1ULL] - places[number];
  }
};
/// The range of an input row's number, or an empty range if the number is outside the current piece.
struct range_of_number {
  const std::uint32_t* numbers;  ///< by row
  const std::uint64_t* places;
  exec::asked_rows::piece part;
  std::uint64_t rows;
  storage::row_range* ranges;
  std::uint64_t* degrees;
  __device__ void operator()(std::uint64_t row) const {
    storage::row_range range = {};
    if (row < rows && numbers[row] >= part.first && numbers[row] < part.last) {
      const std::uint64_t place = places[numbers[row]];
      range = {static_cast<std::uint32_t>(place - part.first_row),
               static_cast<std::uint32_t>(places[numbers[row] + 1ULL] - place)};
    }
    degrees[row] = range.count;
    if (row < rows) ranges[row] = range;
  }
};
struct has_rows {
  const kept_rows_view* kept;
  __device__ bool operator()(std::uint32_t source) const { return kept->size(source) != 0; }
};
struct is_used_node {
  const kept_rows_view* kept;
  __device__ bool operator()(std::uint32_t node) const {
    return (kept->used_nodes[node / word_bits] >> node % word_bits & 1) != 0;
  }
};
/// Whether a source is related to itself.
struct has_itself {
  const kept_rows_view* kept;
  __device__ bool operator()(std::uint32_t source) const {
    word tuple[numbered_columns::most];
    const word* const values = kept->sources.values[0];
    tuple[kept->sources.columns[0]] = tuple[kept->nodes.columns[0]] = values == nullptr ? source : values[source];
    const std::uint32_t node = kept->nodes.find(tuple);
    return node != numbered_columns::none && kept->contains(source, node);
  }
};

}  // namespace
}  // namespace gpulog::kernels::gpu

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using backend::fresh_memory;
using gpu_kernels::expand_arguments;
using kernels::segment;
using storage::gpu::kept_question;

namespace {

std::uint64_t columns_bound(const segment& here, const std::vector<std::uint32_t>* stored) {
  std::uint64_t wanted = 0;
  for (const kernels::binding& bound : here.bindings)
    wanted |= std::uint64_t{1} << (stored == nullptr ? bound.column : (*stored)[bound.column]);
  return wanted;
}

bool binds(std::uint64_t wanted, const std::vector<std::uint32_t>& columns) {
  return std::any_of(columns.begin(), columns.end(), [wanted](std::uint32_t c) { return (wanted >> c & 1) != 0; });
}

/// Returns whether a scan of pairs starts with a filter for equal columns.
bool asks_for_itself(const segment& scan, const storage::gpu::kept_rows_view& kept) {
  if (scan.bindings.size() != 2 || scan.steps.empty() || kept.sources.arity != 1 || kept.nodes.arity != 1) return false;
  const kernels::step& first = scan.steps.front();
  if (first.kind != kernels::step_kind::filter || first.is_wide || first.comparison != comparison_op::equal)
    return false;
  const std::vector<kernels::register_number> both = {scan.bindings[0].target, scan.bindings[1].target};
  return std::is_permutation(both.begin(), both.end(), first.arguments.begin(), first.arguments.end());
}

/// Returns the cost in materialized rows. A request by nodes reads all factorized rows twice: to count and to list.
std::uint64_t work_of(const asked_rows& asked, const storage::gpu::device_row_matrix& kept, bool by_node) {
  constexpr std::uint64_t bytes_of_row = 2 * sizeof(word);
  return calibration::work_of_asking + asked.rows() + (by_node ? 2 * kept.bytes() / bytes_of_row : 0);
}

}  // namespace

void gpu_machine::ask_by_key(gpu_kernels::hash_step& made, const kernels::step& one, const relation& source,
                             array_store& store) {
  const std::vector<std::uint32_t>& order = source.index(one.index).layout().order;
  const std::vector<std::uint32_t> key(order.begin(),
                                       order.begin() + static_cast<std::ptrdiff_t>(one.arguments.size()));
  std::vector<kernels::register_number> arguments(source.arity(), one.arguments.front());
  for (std::size_t k = 0; k < key.size(); ++k) arguments[key[k]] = one.arguments[k];
  made.kind = kernels::step_kind::exists_tuple;
  made.set = source.set_by_key(key);
  made.wide_arguments = store.put(arguments);
}

std::uint64_t gpu_machine::asked_rows_at_once(std::uint64_t columns) const {
  if (resource_->limit() == 0) return cut_.asked_rows;
  const std::uint64_t left = resource_->limit() - std::min(resource_->limit(), resource_->used());
  const std::uint64_t fitting = left / calibration::column_share / (columns * sizeof(word));
  return std::min(cut_.asked_rows, std::max(fitting, calibration::least_table_rows));
}

gpu_kernels::asked_number gpu_machine::asked_number_of(running& run, const segment& here, const input_rows& input,
                                                       const expand_arguments& arguments) {
  relation& source = *run.relations[here.source];
  gpu_kernels::asked_number made;
  made.kept = source.matrix()->lookup(kept_question::tuple);
  const key_columns keys = put_keys(run, here.keys, input);
  made.keys = keys.columns;
  made.constants = keys.constants;
  made.key_count = static_cast<std::uint32_t>(here.keys.size());
  std::copy_n(source.index(here.index).layout().order.begin(), made.key_count, made.key_columns);
  const std::vector<std::uint32_t> nodes = source.matrix()->target_columns();
  made.is_node = std::find(nodes.begin(), nodes.end(), made.key_columns[0]) != nodes.end();
  made.first_row = arguments.first_row;
  return made;
}

void gpu_machine::find_kept_degrees(running& run, std::size_t number, const input_rows& input,
                                    expand_arguments& arguments) {
  segment_memory& memory = make_room_for_degrees(run, number, arguments);
  const gpu_kernels::asked_number asked = asked_number_of(run, run.program.segments[number], input, arguments);
  parameters_.flush();
  if (!asked.is_node) {
    backend::gpu::for_each(context_->stream(), arguments.rows + 1,
                           gpu_kernels::store_source_degree{asked, arguments.rows, memory.offsets.data()});
    return;
  }
  storage::gpu::device_row_matrix& kept = *run.relations[run.program.segments[number].source]->matrix();
  asked_rows wanted(*context_, *resource_, kept, asked_rows::side::nodes);
  backend::array<std::uint32_t> numbers(*resource_, arguments.rows, fresh_memory::anything);
  backend::gpu::for_each(context_->stream(), arguments.rows,
                         gpu_kernels::mark_number{asked, numbers.data(), wanted.make_marks()});
  wanted.count();
  kept.add_work(work_of(wanted, kept, asked.is_node));
  backend::gpu::for_each(
      context_->stream(), arguments.rows + 1,
      gpu_kernels::store_placed_degree{numbers.data(), wanted.places(), arguments.rows, memory.offsets.data()});
}

void gpu_machine::match_kept_rows(running& run, std::size_t number, const input_rows& input,
                                  expand_arguments& arguments) {
  const segment& here = run.program.segments[number];
  relation& source = *run.relations[here.source];
  const std::vector<std::uint32_t>& stored = source.index(here.index).layout().stored;
  const std::uint64_t bound_columns = columns_bound(here, &stored);
  const std::size_t parameters = parameters_.position();
  for (std::uint64_t done = 0; done < input.rows; done += calibration::match_rows) {
    parameters_.go_back(parameters);
    arguments.first_row = input.first + done;
    arguments.rows = std::min(calibration::match_rows, input.rows - done);
    backend::array<std::uint32_t> numbers(*resource_, arguments.rows, fresh_memory::anything);
    const gpu_kernels::asked_number asked = asked_number_of(run, here, input, arguments);
    asked_rows wanted(*context_, *resource_, *source.matrix(),
                      asked.is_node ? asked_rows::side::nodes : asked_rows::side::sources);
    parameters_.flush();
    backend::gpu::for_each(context_->stream(), arguments.rows,
                           gpu_kernels::mark_number{asked, numbers.data(), wanted.make_marks()});
    wanted.count();
    source.matrix()->add_work(work_of(wanted, *source.matrix(), asked.is_node));
    for (const asked_rows::piece& part : wanted.pieces(asked_rows_at_once(source.arity()))) {
      if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
      const std::vector<backend::array<word>> columns = wanted.columns_of(part, bound_columns);
      parameters_.go_back(parameters);
      std::vector<gpu_kernels::device_binding> matched;
      for (const kernels::binding& bound : here.bindings)
        matched.push_back({bound.target, columns[stored[bound.column]].data(), 0});
      arguments.matched = parameters_.put(matched);
      arguments.matched_count = static_cast<std::uint32_t>(matched.size());
      arguments.runs = parameters_.put(std::vector<storage::gpu::run_view>(1));
      arguments.run_count = 1;
      segment_memory& memory = make_room_for_degrees(run, number, arguments);
      backend::gpu::for_each(context_->stream(), arguments.rows + 1,
                             gpu_kernels::range_of_number{numbers.data(), wanted.places(), part, arguments.rows,
                                                          memory.ranges.data(), memory.offsets.data()});
      if (here.first_match_from == number) {  // one match is enough
        arguments.degrees = std::exchange(arguments.offsets, nullptr);
      } else {
        sum_degrees(run, number, arguments);
      }
      expand(run, number, arguments, gpu_kernels::all_candidates);
    }
  }
}

void gpu_machine::scan_kept_rows(running& run) {
  const segment& first = run.program.segments.front();
  storage::gpu::device_row_matrix& kept = *run.relations[first.source]->matrix();
  const storage::gpu::kept_rows_view* const view = kept.lookup(kept_question::tuple);
  const std::uint64_t wanted = columns_bound(first, nullptr);
  const std::size_t parameters = parameters_.position();
  const auto go_on = [&](const std::vector<const word*>& columns, std::uint64_t rows) {
    if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
    parameters_.go_back(parameters);
    input_rows input;
    input.columns.assign(run.program.slot_count, nullptr);
    for (const kernels::binding& bound : first.bindings) input.columns[bound.target] = columns[bound.column];
    input.rows = rows;
    run_from_rows(run, input);
  };
  const auto pointers_to = [](const std::vector<backend::array<word>>& columns) {
    std::vector<const word*> made;
    for (const auto& column : columns) made.push_back(column.data());
    return made;
  };
  // Materializes each number once, with its values.
  const auto go_on_with = [&](const auto& is_wanted, const storage::gpu::numbered_columns& numbered,
                              std::uint64_t numbers, bool at_both_sides) {
    backend::array<std::uint32_t> listed(*resource_, numbers, fresh_memory::anything);
    backend::array<std::uint64_t> count(*resource_, 1);
    backend::gpu::with_scratch(*resource_, [&](void* scratch, std::size_t& bytes) {
      backend::gpu::select_if(scratch, bytes, listed.data(), count.data(), numbers, is_wanted, context_->stream());
    });
    const std::uint64_t rows = context_->read_counter(count.data());
    if (rows == 0) return;
    std::vector<backend::array<word>> columns(run.relations[first.source]->arity());
    add_columns_of_numbers(*context_, *resource_, numbered, std::move(listed), rows, wanted, columns);
    std::vector<const word*> pointers = pointers_to(columns);
    if (at_both_sides) pointers[kept.view().nodes.columns[0]] = pointers[numbered.columns[0]];
    go_on(pointers, rows);
  };
  const storage::gpu::kept_rows_view& known = kept.view();
  const bool binds_sources = binds(wanted, kept.source_columns());
  const bool binds_nodes = binds(wanted, kept.target_columns());
  const bool once = !run.program.observes_order();
  if (once && !binds_nodes) return go_on_with(gpu_kernels::has_rows{view}, known.sources, known.source_count, false);
  if (once && !binds_sources) {
    const gpu_kernels::is_used_node is_used{kept.lookup(kept_question::node)};
    return go_on_with(is_used, known.nodes, known.node_count, false);
  }
  if (asks_for_itself(first, known))
    return go_on_with(gpu_kernels::has_itself{view}, known.sources, known.source_count, true);
  asked_rows all(*context_, *resource_, kept, asked_rows::side::sources);
  all.count();
  kept.add_work(work_of(all, kept, false));
  for (const asked_rows::piece& part : all.pieces(asked_rows_at_once(run.relations[first.source]->arity()))) {
    const std::vector<backend::array<word>> columns = all.columns_of(part, wanted);
    go_on(pointers_to(columns), part.rows);
  }
}

}  // namespace gpulog::exec
