#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/long_vector.hpp"

/// Processes that evaluate one program together: rank 0 runs the program and gives work to its followers, the ranks
/// from 1 on.
namespace gpulog::ranks {

/// Messages of a rank so far.
struct rank_traffic {
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  double waiting_seconds = 0;
};

/// Messages between the ranks. All ranks call the same functions in the same order, one thread of each rank at a time.
/// A waiting rank sleeps.
class communicator {
 public:
  communicator() = default;
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  /// Ends the use of MPI. All ranks call the destructor, and wait until all have called.
  virtual ~communicator() = default;

  [[nodiscard]] virtual unsigned rank() const = 0;
  [[nodiscard]] virtual unsigned size() const = 0;
  /// Returns the number of lower ranks on this host.
  [[nodiscard]] virtual unsigned rank_on_host() const = 0;

  /// Copies `bytes` bytes from rank 0 to all ranks.
  virtual void broadcast(void* data, std::uint64_t bytes) = 0;
  /// Returns the texts of all ranks, by rank, at rank 0, and an empty list at followers.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// Returns the texts of all ranks, by rank, at all ranks.
  [[nodiscard]] virtual std::vector<std::string> gather_everywhere(const std::string& text) = 0;

  /// Tells all other ranks that this rank has failed and waits for them in gather_everywhere(). Each of them calls
  /// take_warning() later.
  virtual void warn() = 0;
  /// Returns whether a warning has arrived. The warning stays.
  [[nodiscard]] virtual bool is_warned() = 0;
  /// Removes the warning of a rank that has called warn().
  virtual void take_warning(unsigned rank) = 0;

  [[nodiscard]] const rank_traffic& traffic() const { return traffic_; }
  /// Declares that this rank will exchange no more messages, although the others wait for some. The process must then
  /// end, and the launcher ends the other ranks.
  void leave() { has_left_ = true; }
  [[nodiscard]] bool has_left() const { return has_left_; }

  /// Returns rank 0's text at all ranks.
  [[nodiscard]] std::string broadcast(std::string text) {
    std::uint64_t bytes = text.size();
    broadcast(&bytes, sizeof(bytes));
    text.resize(memory_size(bytes));
    broadcast(text.data(), bytes);
    return text;
  }

 protected:
  rank_traffic traffic_;

 private:
  bool has_left_ = false;
};

/// Function of libgpulog_mpi.so: makes this process a rank.
/// @return nullptr if MPI cannot be started
using join_function = communicator* (*)();
inline constexpr const char* join_name = "gpulog_join_ranks";
/// Variable of libgpulog_mpi.so (bool): whether MPI is Open MPI, whose mpirun refuses to run as root.
inline constexpr const char* open_mpi_name = "gpulog_mpi_is_open_mpi";

}  // namespace gpulog::ranks
