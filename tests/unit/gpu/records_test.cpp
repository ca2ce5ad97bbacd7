// Tables of records on a device: made and found by many threads at a time, with too little room at first, and
// shared with the host. Skipped where there is no device.

#include <algorithm>
#include <map>

#include "exec/gpu/device_record_tables.hpp"
#include "kernels/steps/lookup_operator.hpp"
#include "oracle/without_sizes.hpp"
#include "random_on_device.hpp"

namespace gpulog::exec {
namespace {

using records_on_gpu = on_gpu;
namespace gpu_kernels = kernels::gpu;
using columns = std::vector<std::vector<word>>;

/// A device, and what it takes to look records up.
class looking_device {
 public:
  looking_device()
      : context_(0), memory_(context_, 0), tables_(context_, memory_), counters_(memory_, 1), blocks_(memory_, 1) {}

  [[nodiscard]] device_record_tables& tables() { return tables_; }

  /// Looks up a record for each row. @param room records that there is room for at first @return the rows'
  /// records, of those that are left
  std::vector<word> look_up(storage::record_table& host, const columns& fields, bool makes, std::uint64_t room) {
    const std::uint64_t rows = fields.empty() ? 100 : fields.front().size();
    std::vector<backend::array<word>> memory;
    std::vector<const word*> pointers;
    for (const std::vector<word>& column : fields) {
      memory.emplace_back(memory_, rows + 1);
      copy(memory.back().data(), column.data(), rows * sizeof(word));
      pointers.push_back(memory.back().data());
    }
    backend::array<word> results(memory_, rows + 1);
    backend::array<word> left(memory_, rows + 1);
    gpu_kernels::lookup_step step;
    step.kind = makes ? gpu_kernels::lookup_kind::make_record : gpu_kernels::lookup_kind::find_record;
    step.columns = put(pointers);
    step.constants = put(std::vector<word>(fields.size() + 1));
    step.result = results.data();
    gpu_kernels::lookup_arguments arguments;
    arguments.steps = put(std::vector<gpu_kernels::lookup_step>{step});
    arguments.step_count = 1;
    arguments.rows = rows;
    arguments.drops_rows = !makes;
    arguments.kept = put(std::vector<const word*>{results.data()});
    arguments.out = put(std::vector<word*>{left.data()});
    arguments.kept_count = 1;
    arguments.counters = counters_.data();
    arguments.finished_blocks = blocks_.data();
    const std::uint64_t threads = gpu_kernels::lookup_threads(context_, rows);
    device_record_tables::table& table = tables_.of(host);
    while (true) {
      arguments.table = table.make_room(room, threads);
      arguments.report_number = context_.next_report();
      arguments.report = context_.report(arguments.report_number);
      gpu_kernels::run_lookups(context_, arguments, threads);
      const backend::gpu::kernel_report report = context_.wait_for_report(arguments.report_number);
      table.set_size(report.candidates);
      if (report.refused != 0) continue;
      std::vector<word> found(report.rows);
      const word* const from = makes ? results.data() : left.data();
      backend::gpu::copy_async(found.data(), from, found.size() * sizeof(word), backend::gpu::direction::device_to_host,
                               context_.stream());
      context_.synchronize();
      return found;
    }
  }

 private:
  void copy(void* to, const void* from, std::uint64_t bytes) {
    context_.synchronize();
    backend::gpu::copy_async(to, from, bytes, backend::gpu::direction::host_to_device, context_.stream());
    context_.synchronize();
  }
  template <class T>
  const T* put(const std::vector<T>& values) {
    arrays_.emplace_back(memory_, values.size() * sizeof(T) + 1);
    copy(arrays_.back().data(), values.data(), values.size() * sizeof(T));
    return reinterpret_cast<const T*>(arrays_.back().data());
  }

  backend::gpu::device_context context_;
  backend::gpu::device_memory memory_;
  device_record_tables tables_;
  std::vector<backend::array<std::uint8_t>> arrays_;
  backend::array<gpu_kernels::lookup_counters> counters_;
  backend::array<std::uint32_t> blocks_;
};

/// Rows of which many are equal.
columns make_fields(std::uint32_t arity, std::uint64_t rows, word different) {
  columns made(arity, std::vector<word>(rows));
  for (std::uint64_t row = 0; row < rows; ++row) {
    const word value = static_cast<word>(row * 2654435761U) % different;
    for (std::uint32_t c = 0; c < arity; ++c) made[c][row] = value * (c + 1) ^ (c == 0 ? 0 : 0x80000000U);
  }
  return made;
}

void expect_numbers(storage::record_table& host, const columns& fields, const std::vector<word>& records) {
  std::map<std::vector<word>, word> known;
  for (std::uint64_t row = 0; row < records.size(); ++row) {
    std::vector<word> own;
    for (const std::vector<word>& column : fields) own.push_back(column[row]);
    ASSERT_TRUE(host.has(records[row])) << records[row];
    ASSERT_EQ(known.try_emplace(own, records[row]).first->second, records[row]);
    ASSERT_TRUE(std::equal(own.begin(), own.end(), host.fields(records[row])));
    ASSERT_EQ(host.find(own.data()), records[row]);
  }
  EXPECT_EQ(host.size(), known.size());
}

TEST_F(records_on_gpu, equal_fields_are_one_record) {
  for (const std::uint32_t arity : {0U, 1U, 2U, 3U, 9U}) {
    for (const std::uint64_t rows : {std::uint64_t{1}, std::uint64_t{31}, std::uint64_t{32}, std::uint64_t{33},
                                     std::uint64_t{300}, sized(400000, 5000)}) {
      for (const word different : {word{1}, word{7}, word{1000}, word{300000}}) {
        SCOPED_TRACE(std::to_string(arity) + " fields, " + std::to_string(rows) + " rows, " +
                     std::to_string(different));
        looking_device device;
        storage::record_table host(arity);
        const columns fields = make_fields(arity, rows, different);
        const std::vector<word> records = device.look_up(host, fields, true, 1);
        device.tables().bring_to_host();
        expect_numbers(host, fields, records);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST_F(records_on_gpu, what_is_not_there_is_dropped_and_not_made) {
  looking_device device;
  storage::record_table host(2);
  const columns some = make_fields(2, 5000, 1000);
  const std::vector<word> records = device.look_up(host, some, true, 1 << 20);
  const columns more = make_fields(2, 5000, 2000);
  const std::vector<word> found = device.look_up(host, more, false, 1 << 20);
  device.tables().bring_to_host();
  EXPECT_EQ(host.size(), 1000U);
  std::uint64_t expected = 0;
  for (std::uint64_t row = 0; row < 5000; ++row) expected += more[0][row] < 1000 ? 1 : 0;
  EXPECT_EQ(found.size(), expected);
  EXPECT_EQ(std::count(found.begin(), found.end(), storage::nil_record), 0);
}

TEST_F(records_on_gpu, host_and_device_take_turns) {
  looking_device device;
  storage::record_table host(2);
  for (word turn = 1; turn < 12; ++turn) {
    const columns fields = make_fields(2, 3000 * turn, 500 * turn * turn);
    for (std::uint64_t row = 0; turn % 2 == 0 && row < 2000; ++row) {
      const word own[] = {fields[0][row] + 100, fields[1][row]};
      host.intern(own);
    }
    const std::uint64_t before = host.size();
    const std::vector<word> records = device.look_up(host, fields, true, turn % 3 == 0 ? 1 : 100000);
    EXPECT_EQ(host.size(), before);
    device.tables().bring_to_host();
    for (std::uint64_t row = 0; row < records.size(); ++row) {
      const word own[] = {fields[0][row], fields[1][row]};
      ASSERT_EQ(host.intern(own), records[row]);
    }
  }
}

/// Lists and pairs made in a recursion, found in bodies, and read: as many as a processor finds.
TEST_F(records_on_gpu, programs_make_and_find_records_release_only) {
  const analysed_text source(
      ".type list = [head:number, tail:list]\n.decl l(x:list, n:number)\nl(nil, 0).\n"
      "l([k, t], n + 1) :- l(t, n), n < 9, k = range(0, 4).\n"
      ".type pair = [a:list, b:list]\n.decl p(x:pair)\np([t, [0, t]]) :- l(t, _).\n"
      ".decl found(n:number)\nfound(n) :- l(t, n), p([t, [0, t]]).\n.decl lost(n:number)\nlost(n) :- l(t, n), p([[1, "
      "t], t]).\n"
      ".decl ends(h:number, n:number)\nends(h, n) :- l([h, nil], n).\n");
  const plan::program plan = plan::make_plan(source.program, {}, {});
  storage::symbol_table symbols(plan.symbols);
  storage::record_tables records;
  options chosen;
  chosen.records = &records;
  const auto running = make_gpu_executor(plan, symbols, chosen, 0, 0);
  running->evaluate();
  const std::uint64_t lists = 349525;  // 4^0 + .. + 4^9
  const auto rows = [&](const char* name) { return running->rows(source.program.find_relation(name).value()); };
  EXPECT_EQ(rows("l"), lists);
  EXPECT_EQ(rows("p"), lists);
  EXPECT_EQ(rows("found"), 10U);
  EXPECT_EQ(rows("lost"), 0U);
  EXPECT_EQ(rows("ends"), 4U);
  // Lists that p makes are one longer than the longest.
  EXPECT_GE(records[2].size(), 2 * lists - 1);
}

TEST_F(records_on_gpu, memory_that_is_not_enough_is_named_release_only) {
  const analysed_text source(
      ".type list = [head:number, tail:list]\n.decl l(x:list)\nl(nil).\nl([k, t]) :- l(t), k = range(0, 10).\n");
  const plan::program plan = plan::make_plan(source.program, {}, {});
  storage::symbol_table symbols(plan.symbols);
  storage::record_tables records;
  options chosen;
  chosen.records = &records;
  const auto running = make_gpu_executor(plan, symbols, chosen, 0, sized(600u << 20, 100u << 20));
  try {
    running->evaluate();
    FAIL() << "more than fits";
  } catch (const memory_fault& fault) {
    EXPECT_EQ(
        oracle::without_sizes(fault.what()),
        "Out of memory while extending relation l (N tuples, N bytes): N more bytes were needed with N bytes in use, "
        "and the limit is 104857600 bytes (raise it with memory_limit)\n"
        "in rule:\nl([k,t]) :- l(t), k = range(0,10).\nin file test.dl [4:1-4:37]");
  }
}

}  // namespace
}  // namespace gpulog::exec
