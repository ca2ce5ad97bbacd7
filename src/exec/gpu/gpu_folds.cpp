// Aggregates: groups the bindings of a table, and folds the values of the body's last segment into the groups.

#include <algorithm>

#include "backend/gpu/vendor.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "kernels/join/table_operators.hpp"

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using gpu_kernels::expand_arguments;
using kernels::register_number;
using kernels::segment;

template <class Use>
void gpu_machine::with_cells(const kernels::pipeline& program, std::size_t fold, std::uint64_t groups, const Use& use) {
  fold_memory& memory = memory_of(fold).fold;
  const bool is_signed = program.segments[program.segments[fold].unfold - 1].is_signed;
  ensure(memory.counts, groups);
  ensure(memory.sums, groups);
  if (program.wide == nullptr) {
    ensure(memory.words, groups);
    use(gpu_kernels::fold_cells<word>{memory.counts.data(), memory.sums.data(), memory.words.data(), is_signed});
  } else {
    ensure(memory.wide_words, groups);
    use(gpu_kernels::fold_cells<wide_word>{memory.counts.data(), memory.sums.data(), memory.wide_words.data(),
                                           is_signed});
  }
}

void gpu_machine::run_fold(running& run, std::size_t number, const input_rows& input) {
  const segment& here = run.program.segments[number];
  fold_memory& memory = memory_of(number).fold;
  const fold_op op = run.program.segments[here.unfold - 1].fold;
  const auto clear = [&](std::uint64_t groups) {
    with_cells(run.program, number, groups,
               [&](const auto& cells) { gpu_kernels::clear_fold(*context_, op, cells, groups); });
  };
  const std::size_t parameters = parameters_.position();
  if (here.carried.empty()) {
    // The aggregate depends on no binding: one group serves all rows.
    ensure(memory.groups, 1);
    backend::gpu::fill_async(memory.groups.data(), 0, sizeof(std::uint32_t), context_->stream());
    clear(1);
    run_body(run, number, part_of(input, 0, 1), 1);
    const std::size_t behind = parameters_.position();
    for (std::uint64_t done = 0; done < input.rows; done += calibration::fold_rows) {
      parameters_.go_back(behind);
      unfold(run, number, part_of(input, done, std::min(calibration::fold_rows, input.rows - done)), nullptr);
    }
    return;
  }
  for (std::uint64_t done = 0; done < input.rows; done += calibration::fold_rows) {
    parameters_.go_back(parameters);
    const input_rows part = part_of(input, done, std::min(calibration::fold_rows, input.rows - done));
    ensure(memory.representatives, part.rows);
    ensure(memory.groups, part.rows);
    std::vector<const word*> columns;
    for (const register_number kept : here.carried) columns.push_back(part.columns[kept]);
    const std::uint64_t groups = gpu_kernels::group_rows(*context_, *resource_, parameters_.put_now(columns),
                                                         static_cast<std::uint32_t>(columns.size()), part.rows,
                                                         memory.representatives.data(), memory.groups.data());
    clear(part.rows);
    run_body(run, number, part, groups);
    unfold(run, number, part, memory.representatives.data());
  }
}

/// Runs the body of an aggregate once per group; the body's results reach add_to_fold.
void gpu_machine::run_body(running& run, std::size_t number, const input_rows& input, std::uint64_t groups) {
  const segment& here = run.program.segments[number];
  fold_memory& memory = memory_of(number).fold;
  input_rows body;
  body.columns.assign(run.program.slot_count, nullptr);
  body.rows = groups;
  ensure(memory.body, groups * here.carried.size());
  for (std::size_t c = 0; c < here.carried.size(); ++c) {
    word* const gathered = memory.body.data() + c * groups;
    gpu_kernels::gather_rows(*context_, input.columns[here.carried[c]], memory.groups.data(), groups, gathered);
    body.columns[here.carried[c]] = gathered;
  }
  body.columns[here.owner] = memory.groups.data();
  run_segment(run, number, body);
}

void gpu_machine::add_to_fold(running& run, std::size_t number, std::uint64_t capacity, std::uint64_t rows) {
  const segment& here = run.program.segments[number];
  const word* const owners = memory_of(number).table.data();
  // Columns: the groups, then the folded values or the halves of wide values. A constant has no column.
  std::vector<const word*> columns(run.program.slot_count, nullptr);
  const std::vector<register_number> outputs = outputs_before(run.program, number + 1);
  for (std::size_t c = 1; c < outputs.size(); ++c) {
    if (outputs[c] < run.program.slot_count) columns[outputs[c]] = owners + c * capacity;
  }
  with_cells(run.program, here.ended_fold, 0, [&]<class Word>(const gpu_kernels::fold_cells<Word>& cells) {
    gpu_kernels::row_values<Word> values;
    if (here.fold != fold_op::count) values = row_values_of<Word>(run, columns, here.folded, here.upper_folded);
    gpu_kernels::add_to_fold(*context_, here.fold, owners, values, rows, cells);
  });
}

/// Continues after an aggregate: joins each binding before the aggregate with the value of its group.
void gpu_machine::unfold(running& run, std::size_t number, const input_rows& input,
                         const std::uint32_t* representatives) {
  const segment& here = run.program.segments[number];
  const segment& behind = run.program.segments[here.unfold];
  const fold_op op = run.program.segments[here.unfold - 1].fold;
  fold_memory& memory = memory_of(number).fold;
  input_rows next;
  next.columns.assign(run.program.slot_count, nullptr);
  const bool has_halves = behind.upper_value != kernels::no_register;
  const std::uint32_t* kept_rows = nullptr;
  next.rows = input.rows;
  if (!gpu_kernels::always_has_value(op)) {
    ensure(memory.kept, input.rows);
    kept_rows = memory.kept.data();
    next.rows = gpu_kernels::rows_with_value(*context_, *resource_, memory.counts.data(), representatives, input.rows,
                                             memory.kept.data());
  }
  const std::size_t result_columns = has_halves ? 2 : 1;
  ensure(memory.results, next.rows * (result_columns + (kept_rows == nullptr ? 0 : behind.carried.size())));
  word* const results = memory.results.data();
  with_cells(run.program, number, 0, [&](const auto& cells) {
    gpu_kernels::fold_values(*context_, op, cells, representatives, kept_rows, next.rows,
                             {results, results + next.rows}, wraps_around_.data());
  });
  next.columns[behind.result] = results;
  if (has_halves) next.columns[behind.upper_value] = results + next.rows;
  word* made = results + result_columns * next.rows;
  for (const register_number kept : behind.carried) {
    if (next.columns[kept] != nullptr) continue;
    if (kept_rows == nullptr) {
      next.columns[kept] = input.columns[kept];
      continue;
    }
    gpu_kernels::gather_rows(*context_, input.columns[kept], kept_rows, next.rows, made);
    next.columns[kept] = made;
    made += next.rows;
  }
  enter_segment(run, here.unfold, next);
}

void gpu_machine::fold_row_counts(running& run, std::size_t number, const input_rows& input,
                                  expand_arguments& arguments) {
  const segment& here = run.program.segments[number];
  const register_number owner = run.program.segments[here.ended_fold].owner;
  const std::size_t parameters = parameters_.position();
  for (std::uint64_t done = 0; done < input.rows; done += calibration::counted_rows) {
    if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
    parameters_.go_back(parameters);
    const input_rows part = part_of(input, done, std::min(calibration::counted_rows, input.rows - done));
    arguments.first_row = 0;
    arguments.rows = part.rows;
    find_degrees(run, number, part, arguments);
    with_cells(run.program, here.ended_fold, 0, [&]<class Word>(const gpu_kernels::fold_cells<Word>& cells) {
      gpu_kernels::row_values<Word> values;
      if (here.fold != fold_op::count) values = row_values_of<Word>(run, part.columns, here.folded, here.upper_folded);
      gpu_kernels::add_row_counts(*context_, here.fold, part.columns[owner], values, arguments.offsets, part.rows,
                                  cells);
    });
  }
}

void gpu_machine::say_what_wraps(const kernels::pipeline& program) {
  if (program.wraps_around == nullptr || program.wraps_around->load()) return;
  const auto may_wrap = [](const segment& one) {
    return one.ended_fold != 0 && (one.fold == fold_op::count || one.fold == fold_op::sum_number);
  };
  if (std::none_of(program.segments.begin(), program.segments.end(), may_wrap)) return;
  if (context_->read_counter(wraps_around_.data()) == 0) return;
  program.wraps_around->store(true);
  backend::gpu::fill_async(wraps_around_.data(), 0, sizeof(std::uint64_t), context_->stream());
}

}  // namespace gpulog::exec
