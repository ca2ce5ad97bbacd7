#pragma once

#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exec/ranks/rank_strips.hpp"
#include "ranks/rank_group.hpp"

namespace gpulog::oracle {

/// Ranks that are threads of this process.
struct rank_threads {
  explicit rank_threads(unsigned size) : meeting(size), texts(size), warnings(size) {}

  std::barrier<> meeting;
  const void* sent = nullptr;
  std::vector<std::string> texts;
  std::vector<std::atomic<int>> warnings;  ///< that each rank has received
};

class thread_communicator final : public ranks::communicator {
 public:
  thread_communicator(rank_threads& all, unsigned rank) : all_(&all), rank_(rank) {}
  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override { return static_cast<unsigned>(all_->texts.size()); }
  [[nodiscard]] unsigned rank_on_host() const override { return rank_; }
  using communicator::broadcast;
  void broadcast(void* data, std::uint64_t bytes) override {
    if (rank_ == 0) all_->sent = data;
    all_->meeting.arrive_and_wait();
    if (rank_ != 0) std::memcpy(data, all_->sent, bytes);
    all_->meeting.arrive_and_wait();
  }
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override {
    all_->texts[rank_] = text;
    all_->meeting.arrive_and_wait();
    std::vector<std::string> gathered = rank_ == 0 ? all_->texts : std::vector<std::string>();
    all_->meeting.arrive_and_wait();
    return gathered;
  }
  [[nodiscard]] std::vector<std::string> gather_everywhere(const std::string& text) override {
    all_->texts[rank_] = text;
    all_->meeting.arrive_and_wait();
    std::vector<std::string> gathered = all_->texts;
    all_->meeting.arrive_and_wait();
    return gathered;
  }
  void warn() override {
    for (unsigned to = 0; to < size(); ++to) all_->warnings[to] += to != rank_ ? 1 : 0;
  }
  [[nodiscard]] bool is_warned() override { return all_->warnings[rank_] != 0; }
  void take_warning(unsigned /*rank*/) override { --all_->warnings[rank_]; }

 private:
  rank_threads* all_;
  unsigned rank_;
};

/// Calls test(group) at rank 0 while the other ranks serve.
template <class Test>
void on_ranks(unsigned size, const Test& test) {
  rank_threads all(size);
  const auto join = [&all](unsigned rank) {
    return ranks::rank_group(std::make_unique<thread_communicator>(all, rank), "1.0", {"a.dl", "-j2"});
  };
  std::vector<std::jthread> others;
  for (unsigned rank = 1; rank < size; ++rank)
    others.emplace_back([rank, &join] { join(rank).serve(exec::rank_tasks()); });
  ranks::rank_group group = join(0);
  const struct end_of_scope {
    ranks::rank_group& group;
    ~end_of_scope() { group.end(); }
  } end{group};
  test(group);
}

}  // namespace gpulog::oracle
