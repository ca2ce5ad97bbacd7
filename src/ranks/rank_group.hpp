#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ranks/communicator.hpp"

namespace gpulog::ranks {

/// The ranks of a run. Rank 0 runs the program and begins tasks; its followers do the tasks.
class rank_group {
 public:
  /// Compares the ranks. All ranks call the constructor.
  /// @param version of gpulog
  /// @throws input_error at all ranks if versions or arguments differ
  rank_group(std::unique_ptr<communicator> messages, const std::string& version,
             const std::vector<std::string>& arguments);

  [[nodiscard]] unsigned rank() const { return messages_->rank(); }
  [[nodiscard]] unsigned size() const { return messages_->size(); }

  /// Tasks of followers by name. The function exchanges the same messages as the function at rank 0 that begins the
  /// task.
  using task_table = std::map<char, std::function<void(communicator& messages)>>;
  /// At rank 0: calls the function of the task at all followers.
  communicator& begin(char task);
  /// At rank 0: ends serve() at all followers.
  void end();
  /// At a follower: does tasks of rank 0 until the end of the run.
  void serve(const task_table& tasks);

  [[nodiscard]] communicator& messages() { return *messages_; }
  [[nodiscard]] const rank_traffic& traffic() const { return messages_->traffic(); }
  /// Returns for instance "rank 1 (process 17 on host)".
  [[nodiscard]] const std::string& name(unsigned rank) const { return members_[rank].name; }

  /// Returns the name of a rank on this host whose process has ended, or an empty text. At a follower, the text is also
  /// empty while a process of a lower rank on this host is running.
  /// Safe in a signal handler.
  [[nodiscard]] const std::string& ended_rank() const;

 private:
  struct member {
    std::string host;
    std::int64_t process = 0;
    std::string name;  ///< "rank 1 (process 17 on host)"
  };

  void compare(const std::vector<std::string>& described);

  std::unique_ptr<communicator> messages_;
  std::vector<member> members_;
};

}  // namespace gpulog::ranks
