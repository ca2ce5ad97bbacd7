// Operators that are neither index expansions nor aggregates: ranges, lookups of records and of 64-bit values, and
// steps executed by the host. Each operator reads a table of bindings and builds the next table.

#include <algorithm>
#include <numeric>

#include "backend/gpu/vendor.hpp"
#include "exec/calibration.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "exec/gpu/row_counts.hpp"
#include "kernels/steps/host_steps.hpp"

namespace gpulog::exec {

namespace gpu_kernels = kernels::gpu;
using kernels::expansion_kind;
using kernels::register_number;
using kernels::segment;

namespace {

void add_once(std::vector<register_number>& registers, register_number number) {
  if (std::find(registers.begin(), registers.end(), number) == registers.end()) registers.push_back(number);
}

/// Makes space for `records` new records, or for a minimum if memory is short.
storage::gpu::record_view room_for_records(storage::gpu::device_records& table, std::uint64_t records,
                                           std::uint64_t threads) {
  try {
    return table.make_room(records, threads);
  } catch (const backend::memory_exceeded&) {
    if (records <= calibration::fewest_new_records) throw;
  }
  return table.make_room(calibration::fewest_new_records, threads);
}

}  // namespace

segment_memory& gpu_machine::memory_of(std::size_t number) {
  while (segments_.size() <= number) segments_.push_back(std::make_unique<segment_memory>(*resource_));
  return *segments_[number];
}

gpu_machine::input_rows gpu_machine::part_of(const input_rows& input, std::uint64_t first, std::uint64_t rows) {
  input_rows part;
  part.rows = rows;
  for (const word* const column : input.columns) {
    part.columns.push_back(column == nullptr ? nullptr : column + input.first + first);
  }
  return part;
}

std::vector<register_number> gpu_machine::outputs_before(const kernels::pipeline& program, std::size_t number) {
  const segment& next = program.segments[number];
  std::vector<register_number> outputs;
  const segment& before = program.segments[number - 1];
  if (before.ended_fold != 0) {
    outputs.push_back(program.segments[before.ended_fold].owner);
    if (before.fold != fold_op::count) outputs.push_back(before.folded);
    if (before.fold != fold_op::count && before.upper_folded != kernels::no_register) {
      outputs.push_back(before.upper_folded);
    }
    return outputs;
  }
  outputs = next.carried;
  for (const std::vector<register_number>* const keys : {&next.keys, &next.upper_keys}) {
    for (const register_number key : *keys) {
      if (key < program.slot_count) add_once(outputs, key);
    }
  }
  for (const kernels::search_choice& choice : next.choices) {
    for (const register_number key : choice.keys) {
      if (key < program.slot_count) add_once(outputs, key);
    }
  }
  if (next.kind == expansion_kind::fold) {
    for (const register_number kept : program.segments[next.unfold].carried) add_once(outputs, kept);
  }
  return outputs;
}

void gpu_machine::enter_segment(running& run, std::size_t number, const input_rows& input) {
  if (input.rows == 0) return;
  switch (run.program.segments[number].kind) {
    case expansion_kind::range:
      return run_range(run, number, input);
    case expansion_kind::fold:
      return run_fold(run, number, input);
    case expansion_kind::host:
      return run_on_host(run, number, input);
    case expansion_kind::lookups:
      return run_lookups(run, number, input);
    case expansion_kind::unit:
    case expansion_kind::scan:
    case expansion_kind::match:
    case expansion_kind::unfold:
      return run_segment(run, number, input);
  }
}

template <class Word>
void gpu_machine::run_range_of(running& run, std::size_t number, const input_rows& input) {
  const segment& here = run.program.segments[number];
  segment_memory& memory = memory_of(number);
  const std::size_t parameters = parameters_.position();
  for (std::uint64_t done = 0; done < input.rows; done += calibration::range_rows) {
    const input_rows part = part_of(input, done, std::min(calibration::range_rows, input.rows - done));
    const auto value_of = [&](std::size_t argument) {
      const register_number upper = here.upper_keys.empty() ? kernels::no_register : here.upper_keys[argument];
      return row_values_of<Word>(run, part.columns, here.keys[argument], upper);
    };
    gpu_kernels::range_rows<Word> ranges;
    ranges.kind = here.value;
    ranges.from = value_of(0);
    ranges.to = value_of(1);
    ranges.has_step = here.keys.size() > 2;
    if (ranges.has_step) ranges.step = value_of(2);
    ranges.rows = part.rows;
    ensure(memory.offsets, part.rows + 1);
    const std::uint64_t values = gpu_kernels::count_range_values(*context_, *resource_, ranges, memory.offsets.data());
    const std::uint64_t capacity = std::min(values, calibration::range_values);
    ensure(memory.made, capacity * (2 + here.carried.size()));
    ensure(memory.owners, capacity);
    for (std::uint64_t first = 0; first < values; first += capacity) {
      if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
      parameters_.go_back(parameters);
      input_rows next;
      next.columns.assign(run.program.slot_count, nullptr);
      next.rows = std::min(capacity, values - first);
      word* const lower = memory.made.data();
      word* made = lower + capacity;
      gpu_kernels::make_range_values(*context_, ranges, memory.offsets.data(), first, first + next.rows, {lower, made},
                                     memory.owners.data());
      for (const kernels::binding& bound : here.bindings) next.columns[bound.target] = lower;
      if (here.upper_value != kernels::no_register) next.columns[here.upper_value] = made;
      for (const register_number kept : here.carried) {
        if (next.columns[kept] != nullptr) continue;
        made += capacity;
        gpu_kernels::gather_rows(*context_, part.columns[kept], memory.owners.data(), next.rows, made);
        next.columns[kept] = made;
      }
      run_segment(run, number, next);
    }
  }
}

void gpu_machine::run_range(running& run, std::size_t number, const input_rows& input) {
  if (run.program.wide == nullptr) {
    run_range_of<word>(run, number, input);
  } else {
    run_range_of<wide_word>(run, number, input);
  }
}

void gpu_machine::run_on_host(running& run, std::size_t number, const input_rows& input) {
  const segment& here = run.program.segments[number];
  segment_memory& memory = memory_of(number);
  const std::vector<register_number> outputs = outputs_before(run.program, number + 1);
  // The registers that the steps read or write, or that later segments read.
  std::vector<register_number> used = here.carried;
  for (const register_number output : outputs) add_once(used, output);
  for (const kernels::step& one : here.steps) {
    if (one.kind != kernels::step_kind::filter) add_once(used, one.result);
  }
  std::vector<std::vector<word>>& columns = memory.on_host;
  if (columns.size() < run.program.slot_count) columns.resize(run.program.slot_count);
  const std::uint64_t most_rows = std::min(calibration::host_rows, input.rows);
  for (const register_number number_of : used) {
    if (columns[number_of].size() < most_rows) columns[number_of].resize(most_rows);
  }

  // A functor may read or create records.
  const bool calls_functor = std::any_of(here.steps.begin(), here.steps.end(), [](const kernels::step& one) {
    return one.kind == kernels::step_kind::compute && one.scalar == scalar_op::call_functor;
  });
  constexpr std::uint64_t tile = storage::tile_rows;
  std::vector<std::unique_ptr<kernels::host_step_runner>> runners(host_.workers());
  std::vector<std::uint32_t> kept((most_rows + tile - 1) / tile);
  const std::size_t parameters = parameters_.position();
  for (std::uint64_t done = 0; done < input.rows; done += calibration::host_rows) {
    if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
    parameters_.go_back(parameters);
    const input_rows part = part_of(input, done, std::min(calibration::host_rows, input.rows - done));
    for (const register_number read : here.carried) {
      backend::gpu::copy_async(columns[read].data(), part.columns[read], part.rows * sizeof(word),
                               backend::gpu::direction::device_to_host, context_->stream());
    }
    context_->synchronize();
    if (calls_functor || run.program.wide != nullptr) records_->bring_to_host();
    host_.for_each_tile(part.rows, tile, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      auto& runner = runners[worker];
      if (!runner) runner = std::make_unique<kernels::host_step_runner>(run.program);
      std::vector<word*> registers(run.program.slot_count, nullptr);
      for (const register_number one : used) registers[one] = columns[one].data() + begin;
      kept[begin / tile] = runner->run(here, registers, static_cast<std::uint32_t>(end - begin));
    });
    input_rows next;
    next.columns.assign(run.program.slot_count, nullptr);
    const std::uint64_t tiles = (part.rows + tile - 1) / tile;
    next.rows = std::accumulate(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(tiles), std::uint64_t{0});
    count_rows(run.program, number, part.rows, next.rows);
    if (next.rows == 0) continue;
    ensure(memory.made, next.rows * outputs.size());
    word* made = memory.made.data();
    for (const register_number output : outputs) {
      word* const values = columns[output].data();
      std::uint64_t place = 0;
      for (std::uint64_t t = 0; t < tiles; ++t) {
        if (place != t * tile) std::copy_n(values + t * tile, kept[t], values + place);
        place += kept[t];
      }
      backend::gpu::copy_async(made, values, next.rows * sizeof(word), backend::gpu::direction::host_to_device,
                               context_->stream());
      next.columns[output] = made;
      made += next.rows;
    }
    context_->synchronize();  // before the next round overwrites the columns
    enter_segment(run, number + 1, next);
  }
}

void gpu_machine::run_lookups(running& run, std::size_t number, const input_rows& input) {
  const std::size_t parameters = parameters_.position();
  for (std::uint64_t done = 0; done < input.rows; done += calibration::lookup_rows) {
    if (run.stop != nullptr && run.stop->load(std::memory_order_relaxed)) throw kernels::interrupted{};
    parameters_.go_back(parameters);
    const input_rows part = part_of(input, done, std::min(calibration::lookup_rows, input.rows - done));
    const input_rows next = run_lookups_of(run, number, part);
    count_rows(run.program, number, part.rows, next.rows);
    enter_segment(run, number + 1, next);
  }
}

storage::gpu::value_column gpu_machine::values_of(const running& run, const std::vector<const word*>& columns,
                                                  register_number lower, register_number upper) {
  if (lower >= run.program.slot_count) return {nullptr, nullptr, run.program.constants[lower - run.program.slot_count]};
  return {columns[lower], upper == kernels::no_register ? nullptr : columns[upper], 0};
}

gpu_kernels::lookup_step gpu_machine::lookup_of_values(const running& run, const kernels::step& one,
                                                       const std::vector<const word*>& columns) {
  gpu_kernels::lookup_step made;
  made.left = values_of(run, columns, one.arguments.front(), one.upper.front());
  made.right = values_of(run, columns, one.arguments.back(), one.upper.back());
  made.scalar = one.scalar;
  made.comparison = one.comparison;
  if (one.kind == kernels::step_kind::filter) {
    made.kind = gpu_kernels::lookup_kind::compare;
  } else if (one.upper_result != kernels::no_register) {
    made.kind = gpu_kernels::lookup_kind::compute;
  } else {
    made.kind = one.known_only ? gpu_kernels::lookup_kind::find_code : gpu_kernels::lookup_kind::make_code;
  }
  return made;
}

gpu_kernels::lookup_step gpu_machine::lookup_of_record(const running& run, const kernels::step& one,
                                                       const std::vector<const word*>& columns) {
  std::vector<const word*> fields;
  std::vector<word> constants;
  for (const register_number argument : one.arguments) {
    const bool is_constant = argument >= run.program.slot_count;
    fields.push_back(is_constant ? nullptr : columns[argument]);
    constants.push_back(is_constant ? run.program.constants[argument - run.program.slot_count] : 0);
  }
  gpu_kernels::lookup_step made;
  made.kind = one.kind == kernels::step_kind::pack ? gpu_kernels::lookup_kind::make_record
                                                   : gpu_kernels::lookup_kind::find_record;
  made.columns = parameters_.put(fields);
  made.constants = parameters_.put(constants);
  return made;
}

std::vector<gpu_kernels::lookup_step> gpu_machine::lookup_steps_of(const running& run, const segment& here,
                                                                   std::vector<const word*>& columns,
                                                                   std::uint64_t rows, word* results) {
  std::vector<gpu_kernels::lookup_step> steps;
  for (const kernels::step& one : here.steps) {
    gpu_kernels::lookup_step& made =
        steps.emplace_back(one.is_wide ? lookup_of_values(run, one, columns) : lookup_of_record(run, one, columns));
    if (one.kind == kernels::step_kind::filter) continue;
    columns[one.result] = made.result = results;
    results += rows;
    if (one.upper_result == kernels::no_register) continue;
    columns[one.upper_result] = made.upper_result = results;
    results += rows;
  }
  return steps;
}

gpu_machine::input_rows gpu_machine::run_lookups_of(running& run, std::size_t number, const input_rows& part) {
  const segment& here = run.program.segments[number];
  const std::vector<register_number> outputs = outputs_before(run.program, number + 1);
  std::size_t result_columns = 0;
  for (const kernels::step& one : here.steps) {
    if (one.kind != kernels::step_kind::filter) result_columns += one.upper_result == kernels::no_register ? 1 : 2;
  }
  const bool drops_rows = std::any_of(here.steps.begin(), here.steps.end(), [](const kernels::step& one) {
    return one.kind == kernels::step_kind::filter || one.kind == kernels::step_kind::find_record;
  });
  backend::array<word>& made = memory_of(number).made;
  ensure(made, part.rows * (result_columns + (drops_rows ? outputs.size() : 0)));

  std::vector<const word*> columns = part.columns;
  gpu_kernels::lookup_arguments arguments;
  const std::vector<gpu_kernels::lookup_step> steps = lookup_steps_of(run, here, columns, part.rows, made.data());
  const auto makers =
      static_cast<std::uint64_t>(std::count_if(steps.begin(), steps.end(), [](const gpu_kernels::lookup_step& one) {
        return one.kind == gpu_kernels::lookup_kind::make_record || one.kind == gpu_kernels::lookup_kind::make_code;
      }));
  arguments.steps = parameters_.put(steps);
  arguments.step_count = static_cast<std::uint32_t>(steps.size());
  arguments.rows = part.rows;
  input_rows next;
  next.columns.assign(run.program.slot_count, nullptr);
  for (const register_number output : outputs) next.columns[output] = columns[output];
  arguments.drops_rows = drops_rows;
  if (drops_rows) {
    std::vector<const word*> kept;
    std::vector<word*> out;
    for (const register_number output : outputs) {
      kept.push_back(columns[output]);
      out.push_back(made.data() + (result_columns + out.size()) * part.rows);
      next.columns[output] = out.back();
    }
    arguments.kept = parameters_.put(kept);
    arguments.out = parameters_.put(out);
    arguments.kept_count = static_cast<std::uint32_t>(out.size());
  }
  arguments.counters = lookup_counters_.data();
  arguments.finished_blocks = finished_blocks_.data();
  parameters_.flush();

  const std::uint64_t threads = gpu_kernels::lookup_threads(*context_, part.rows);
  device_record_tables::table& table = records_->of(*here.steps.front().records);
  for (bool refused = true; refused;) {
    const std::uint64_t most = std::max(calibration::least_new_records, table.size() / 2);
    arguments.table = room_for_records(table, std::min(part.rows * makers, most), threads);
    arguments.report_number = context_->next_report();
    arguments.report = context_->report(arguments.report_number);
    gpu_kernels::run_lookups(*context_, arguments, threads);
    const backend::gpu::kernel_report report = context_->wait_for_report(arguments.report_number);
    table.set_size(report.candidates);
    if (report.fault != 0) throw kernels::arithmetic_fault{};
    next.rows = report.rows;
    refused = report.refused != 0;
  }
  return next;
}

}  // namespace gpulog::exec
