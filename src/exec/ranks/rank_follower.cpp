#include <algorithm>
#include <array>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "backend/cpu/more_threads.hpp"
#include "exec/calibration.hpp"
#include "exec/ranks/division_order.hpp"
#include "exec/ranks/rank_divider.hpp"
#include "exec/ranks/rank_memory.hpp"
#include "support/error.hpp"
#include "support/long_vector.hpp"
#if defined(GPULOG_WITH_GPU)
#include "exec/gpu/gpu_executor.hpp"
#endif

namespace gpulog::exec {
namespace {

/// The device of a follower, which starts in a separate thread.
class follower_device {
 public:
  /// @param first device that the ranks of this host use
  void start([[maybe_unused]] int first, [[maybe_unused]] unsigned rank_on_host) {
#if defined(GPULOG_WITH_GPU)
    started_ = std::async(std::launch::async, [this, first, rank_on_host] {
      std::string reason = why_no_gpu(first);
      if (!reason.empty()) return reason;
      const int others = gpu_count() - first;
      number_ = first + static_cast<int>(rank_on_host) % others;
      return start_gpu(number_);
    });
#endif
  }
  /// Waits for the start.
  /// @throws user_error if there is no device
  [[nodiscard]] std::unique_ptr<stratum_executor> make_executor([[maybe_unused]] const plan::program& program,
                                                                [[maybe_unused]] storage::symbol_table& symbols,
                                                                [[maybe_unused]] options chosen,
                                                                [[maybe_unused]] std::uint64_t memory_limit) {
#if defined(GPULOG_WITH_GPU)
    if (started_.valid()) reason_ = started_.get();
    if (!reason_.empty()) throw user_error(reason_);
    chosen.device_block_bytes = gpu_block_bytes(number_, true);
    return make_gpu_executor(program, symbols, chosen, number_, memory_limit);
#else
    throw user_error("this gpulog was built without a GPU backend");
#endif
  }

 private:
  std::future<std::string> started_;
  std::string reason_ = "no device was started";
  int number_ = 0;
};

/// The relations of a program at a follower, and the executors of its strata.
class followed_program {
 public:
  followed_program(const division_order& order, follower_device& device)
      : allowed_(order.means.threads), means_(order.means), device_(&device) {
    limit_memory(memory_, order.means);
    program_.relations = order.relations;
    program_.strata = order.strata;
    program_.indexes = order.indexes;
  }

  [[nodiscard]] plan::program& program() { return program_; }

  /// Applies the plan of a stratum, and allocates memory for the columns that rank 0 sends.
  void prepare(division_order& order) {
    // Before a new executor reads the plan.
    program_.relations = std::move(order.relations);
    program_.indexes = std::move(order.indexes);
    program_.strata[order.number] = std::move(order.stratum);
    one_side& used = at(order.where);
    for (; used.next_stratum < order.number; ++used.next_stratum) used.executor->skip_stratum(used.next_stratum);
    for (const relation_id relation : order.unneeded) used.executor->release(relation);
    used.executor->take_over_plan(order.number);
    columns_.clear();
    for (const sent_relation& sent : order.sent) {
      used.executor->release(sent.relation);
      auto& columns = columns_.emplace_back();
      for (std::size_t c = 0; c < program_.relations[sent.relation.value].kinds.size(); ++c)
        columns.emplace_back(memory_, sent.rows, backend::fresh_memory::anything);
    }
  }

  void receive(ranks::communicator& messages) {
    for (auto& columns : columns_) {
      for (auto& column : columns) messages.broadcast(column.data(), column.size() * sizeof(word));
    }
  }

  void run(const division_order& order, division& divided) {
    stratum_executor& executor = *at(order.where).executor;
    for (std::size_t i = 0; i < order.sent.size(); ++i) {
      const sent_relation& sent = order.sent[i];
      std::vector<const word*> columns;
      for (const auto& column : columns_[i]) columns.push_back(column.data());
      if (order.resumes && is_extended(order.number, sent.relation)) {
        executor.adopt_running(sent.relation, columns, sent.rows, sent.old_rows);
      } else {
        executor.load(sent.relation, columns, sent.rows);
      }
      columns_[i].clear();
    }
    stratum_stops stops;
    stops.shared_by = &divided;
    if (order.resumes) {
      executor.resume_stratum(order.number, {order.deltas}, stops);
    } else {
      static_cast<void>(executor.run_until(order.number, stops));
    }
    at(order.where).next_stratum = order.number + 1;
  }

  /// Forgets an incomplete stratum.
  void leave(std::size_t number, side where) {
    columns_.clear();
    one_side& used = sides_[static_cast<std::size_t>(where)];
    if (used.executor == nullptr) return;
    for (const relation_id relation : program_.strata[number].relations) used.executor->release(relation);
  }

  /// Returns the words of rows that rank 0 asks for, column by column. Columns that are copies stay until rank 0 has
  /// the last row.
  [[nodiscard]] std::string copy_rows(const rows_order& order) {
    stratum_executor& executor = *at(order.where).executor;
    std::string rows;
    for (const word* column : executor.columns(order.relation)) {
      rows.append(reinterpret_cast<const char*>(column + order.asked.first),
                  memory_size(order.asked.rows * sizeof(word)));
    }
    if (order.asked.first + order.asked.rows == executor.rows(order.relation)) executor.forget_columns(order.relation);
    return rows;
  }

 private:
  struct one_side {
    std::unique_ptr<stratum_executor> executor;
    std::size_t next_stratum = 0;
  };

  /// Creates the executor on first use.
  [[nodiscard]] one_side& at(side where) {
    one_side& used = sides_[static_cast<std::size_t>(where)];
    if (used.executor != nullptr) return used;
    options chosen;
    chosen.threads = means_.threads;
    chosen.rows = means_.rows;
    chosen.continues = where == side::host;  // a new plan may search sets and indexes that this plan does not need
    used.executor = where == side::host ? make_cpu_executor(program_, symbols_, memory_, chosen)
                                        : device_->make_executor(program_, symbols_, chosen, means_.memory_limit);
    return used;
  }
  [[nodiscard]] bool is_extended(std::size_t number, relation_id relation) const {
    const std::vector<relation_id>& members = program_.strata[number].relations;
    return std::find(members.begin(), members.end(), relation) != members.end();
  }

  backend::cpu::more_threads allowed_;
  rank_means means_;
  follower_device* device_;
  backend::host_memory memory_;
  storage::symbol_table symbols_;
  plan::program program_;
  std::array<one_side, 2> sides_;                           // by side
  std::vector<std::vector<backend::array<word>>> columns_;  // of relations that rank 0 sends
};

/// The tasks of a follower.
class follower {
 public:
  /// Takes part in one stratum.
  void run_stratum(ranks::communicator& messages) {
    const std::string text = messages.broadcast(std::string());
    const auto received = std::make_unique<division_order>();
    division_order& order = *received;
    ranks::archive_reader read(text);
    read(order);
    std::exception_ptr failure;
    try {
      if (order.is_new_program) {
        followed_.reset();
        followed_.emplace(order, device_);
      }
      if (!followed_) throw std::bad_alloc();  // leave() had too little memory
      followed_->prepare(order);
    } catch (...) {
      failure = std::current_exception();
    }
    plan::program& program = followed_ ? followed_->program() : none_;
    rank_division divided(messages, program, &program, order.number, order.partition, order.resumes, {}, {});
    try {
      if (failure) std::rethrow_exception(failure);
      static_cast<void>(divided.meet({}));
      followed_->receive(messages);
      followed_->run(order, divided);
    } catch (const division_ended&) {
      leave(order);
    } catch (...) {
      static_cast<void>(divided.fail());
      leave(order);  // rank 0 may begin the stratum again, as a partitioned one
    }
  }

  /// Sends the rows of a partitioned relation to rank 0.
  void send_rows(ranks::communicator& messages) {
    const std::string text = messages.broadcast(std::string());
    rows_order order;
    ranks::archive_reader read(text);
    read(order);
    rank_division meeting(messages, followed_ ? followed_->program() : none_, nullptr, 0, {}, true, {}, {});
    std::string rows;
    try {
      if (!followed_) throw std::bad_alloc();  // leave() had too little memory
      if (order.asked.rank == messages.rank()) rows = followed_->copy_rows(order);
      static_cast<void>(meeting.meet({}));
    } catch (const division_ended&) {
      return;
    } catch (...) {
      static_cast<void>(meeting.fail());
      return;
    }
    static_cast<void>(messages.gather(rows));
  }

  void start_device(ranks::communicator& messages) {
    int first = 0;
    messages.broadcast(&first, sizeof(first));
    device_.start(first, messages.rank_on_host());
  }

 private:
  void leave(const division_order& order) {
    if (!followed_) return;
    try {
      followed_->leave(order.number, order.where);
    } catch (const std::exception&) {
      followed_.reset();
    }
  }

  follower_device device_;
  std::optional<followed_program> followed_;
  plan::program none_;
};

}  // namespace

void add_follower_tasks(ranks::rank_group::task_table& tasks) {
  const auto state = std::make_shared<follower>();
  tasks[division_task] = [state](ranks::communicator& messages) { state->run_stratum(messages); };
  tasks[rows_task] = [state](ranks::communicator& messages) { state->send_rows(messages); };
  tasks[device_task] = [state](ranks::communicator& messages) { state->start_device(messages); };
}

}  // namespace gpulog::exec
