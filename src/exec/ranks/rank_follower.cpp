#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "backend/cpu/more_threads.hpp"
#include "exec/ranks/division_order.hpp"
#include "exec/ranks/rank_divider.hpp"
#include "exec/ranks/rank_memory.hpp"

namespace gpulog::exec {
namespace {

/// The relations of a program at a follower, and the executor of its strata.
class followed_program {
 public:
  explicit followed_program(const division_order& order) : allowed_(order.means.threads) {
    limit_memory(memory_, order.means);
    program_.relations = order.relations;
    program_.strata = order.strata;
    program_.indexes = order.indexes;
    options chosen;
    chosen.threads = order.means.threads;
    chosen.continues = true;  // a new plan may search sets and indexes that this plan does not need
    executor_ = make_cpu_executor(program_, symbols_, memory_, chosen);
  }

  [[nodiscard]] plan::program& program() { return program_; }

  /// Applies the plan of a stratum, and allocates memory for the columns that rank 0 sends.
  void prepare(division_order& order) {
    for (; next_stratum_ < order.number; ++next_stratum_) executor_->skip_stratum(next_stratum_);
    for (const relation_id relation : order.unneeded) executor_->release(relation);
    program_.relations = std::move(order.relations);
    program_.indexes = std::move(order.indexes);
    program_.strata[order.number] = std::move(order.stratum);
    executor_->take_over_plan(order.number);
    columns_.clear();
    for (const sent_relation& sent : order.sent) {
      executor_->release(sent.relation);
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
    for (std::size_t i = 0; i < order.sent.size(); ++i) {
      const sent_relation& sent = order.sent[i];
      std::vector<const word*> columns;
      for (const auto& column : columns_[i]) columns.push_back(column.data());
      if (order.resumes && is_extended(order.number, sent.relation)) {
        executor_->adopt_running(sent.relation, columns, sent.rows, sent.old_rows);
      } else {
        executor_->load(sent.relation, columns, sent.rows);
      }
      columns_[i].clear();
    }
    stratum_stops stops;
    stops.shared_by = &divided;
    if (order.resumes) {
      executor_->resume_stratum(order.number, {order.deltas}, stops);
    } else {
      static_cast<void>(executor_->run_until(order.number, stops));
    }
    next_stratum_ = order.number + 1;
  }

  /// Forgets an incomplete stratum.
  void leave(std::size_t number) {
    columns_.clear();
    for (const relation_id relation : program_.strata[number].relations) executor_->release(relation);
  }

 private:
  [[nodiscard]] bool is_extended(std::size_t number, relation_id relation) const {
    const std::vector<relation_id>& members = program_.strata[number].relations;
    return std::find(members.begin(), members.end(), relation) != members.end();
  }

  backend::cpu::more_threads allowed_;
  backend::host_memory memory_;
  storage::symbol_table symbols_;
  plan::program program_;
  std::unique_ptr<stratum_executor> executor_;
  std::vector<std::vector<backend::array<word>>> columns_;  // of relations that rank 0 sends
  std::size_t next_stratum_ = 0;
};

class follower {
 public:
  /// The task of a follower: takes part in one divided stratum.
  void run(ranks::communicator& messages) {
    const std::string text = messages.broadcast(std::string());
    const auto received = std::make_unique<division_order>();
    division_order& order = *received;
    ranks::archive_reader read(text);
    read(order);
    std::exception_ptr failure;
    try {
      if (order.is_new_program) {
        followed_.reset();
        followed_.emplace(order);
      }
      followed_->prepare(order);
    } catch (...) {
      failure = std::current_exception();
    }
    plan::program& program = followed_ ? followed_->program() : none_;
    rank_division divided(messages, program, &program, order.number, 0, {});
    try {
      if (failure) std::rethrow_exception(failure);
      static_cast<void>(divided.meet({}));
      followed_->receive(messages);
      followed_->run(order, divided);
    } catch (const division_ended&) {
      followed_->leave(order.number);
    } catch (...) {
      divided.fail();
      if (followed_) followed_->leave(order.number);
    }
  }

 private:
  std::optional<followed_program> followed_;
  plan::program none_;
};

}  // namespace

std::function<void(ranks::communicator& messages)> make_follower() {
  const auto state = std::make_shared<follower>();
  return [state](ranks::communicator& messages) { state->run(messages); };
}

}  // namespace gpulog::exec
