#include "cli/rank_start.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/messages.hpp"
#include "exec/ranks/rank_strips.hpp"
#include "gpulog/error.hpp"
#include "gpulog/options.hpp"
#include "support/own_library.hpp"

namespace gpulog::cli {
namespace {

constexpr std::string_view rank_option = "--ranks";
constexpr std::string_view tune_option = "--tune";

// The message about a lost rank, around the name of the rank.
constexpr std::string_view lost_begin = "the run ends because ";
constexpr std::string_view lost_end = " has ended";

/// The ranks of this process; nullptr: a run with one rank.
std::unique_ptr<ranks::rank_group> group;

/// Returns the first of the variables that is set, or nullptr.
const char* variable(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (const char* const value = std::getenv(name)) return value;
  }
  return nullptr;
}

// Set by the launchers of Open MPI, of MPICH (and Slurm's srun), and of PMIx.
const char* launched_size() { return variable({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}); }
const char* launched_rank() { return variable({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}); }

bool has_several_ranks(const std::vector<std::string>& arguments) {
  if (last_value_of(rank_option, arguments) == "1") return false;
  if (const char* const size = launched_size()) return std::string_view(size) != "1";
  return launched_rank() != nullptr;
}

/// Loads libgpulog_mpi.so. @throws input_error
void* mpi_library() {
  std::string failure;
  void* const library = load_own_library("libgpulog_mpi.so", failure);
  if (library == nullptr)
    throw input_error(fmt::format("Several ranks need a gpulog that was built with MPI ({})", failure));
  return library;
}

template <class T>
T* symbol_of(void* library, const char* name) {
  auto* const found = reinterpret_cast<T*>(dlsym(library, name));
  if (found == nullptr) throw input_error("libgpulog_mpi.so is not of this version");
  return found;
}

std::unique_ptr<ranks::communicator> join() {
  const auto join_ranks = symbol_of<std::remove_pointer_t<ranks::join_function>>(mpi_library(), ranks::join_name);
  // Threads of MPI inherit the blocked signals, so that threads of gpulog receive them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  std::unique_ptr<ranks::communicator> joined(join_ranks());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!joined) throw input_error("MPI cannot be started in this process");
  // Otherwise, each process would run the program and write the outputs.
  if (const char* const size = launched_size(); size != nullptr && std::to_string(joined->size()) != size)
    throw input_error(fmt::format("{} processes were started, but MPI has {}: start them with the mpirun of this MPI",
                                  size, joined->size()));
  return joined;
}

/// Signal handler of a follower: mpirun sends SIGTERM to all ranks after a rank has ended, and SIGKILL a second later.
/// The lowest remaining rank of a host names the lost rank.
void end_served_rank(int number) {
  const std::string& ended = group->ended_rank();
  if (!ended.empty()) {
    iovec parts[5] = {};
    std::size_t count = 0;
    for (const std::string_view part :
         {std::string_view("Error: "), lost_begin, std::string_view(ended), lost_end, std::string_view("\n")})
      parts[count++] = {const_cast<char*>(part.data()), part.size()};
    static_cast<void>(::writev(STDERR_FILENO, parts, std::size(parts)) == 0);
  }
  ::sleep(1);  // lower ranks check whether this process is running
  ::_exit(signal_exit_base + number);
}

int serve() {
  struct sigaction action {};
  action.sa_handler = end_served_rank;
  ::sigaction(SIGTERM, &action, nullptr);
  group->serve(exec::rank_tasks());
  // mpirun sends SIGTERM also if rank 0 ends with status 1, and the handler needs the group.
  ::signal(SIGTERM, SIG_DFL);
  group.reset();
  return 0;
}

}  // namespace

void add_rank_option(CLI::App& app, const std::string& group_name, unsigned& ranks) {
  const auto fault_of = [](const std::string& text) {
    unsigned number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_valid = failure == std::errc{} && end == text.data() + text.size() && number > 0;
    return is_valid ? std::string() : fmt::format("it may only be set to an integer greater than 0, not to '{}'", text);
  };
  app.add_option(std::string(rank_option), ranks,
                 "number of processes that evaluate the program together; mpirun starts them on this host")
      ->type_name("N")
      ->allow_extra_args(false)
      ->group(group_name)
      ->check(CLI::Validator(fault_of, ""));
}

int on_rank_0(const std::vector<std::string>& arguments, const std::function<int()>& run) {
  if (!has_several_ranks(arguments)) return run();
  set_message_form(form_of(arguments));
  const char* const rank = launched_rank();
  try {
    std::unique_ptr<ranks::communicator> joined = join();
    if (joined->size() > 1)
      group = std::make_unique<ranks::rank_group>(std::move(joined), std::string(version()), arguments);
  } catch (const std::exception& failure) {
    if (rank == nullptr || std::string_view(rank) == "0") print_remark(severity::error, failure.what());
    return 1;
  }
  if (!group) return run();
  if (group->rank() != 0) return serve();
  const int status = run();
  if (group->messages().has_left()) {
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(status);
  }
  group->end();
  group.reset();
  return status;
}

void start_ranks(unsigned ranks, const std::vector<std::string>& arguments) {
  if (group && ranks != 0 && ranks != group->size())
    throw input_error(fmt::format("{} {}: mpirun has started {} ranks", rank_option, ranks, group->size()));
  if (group || ranks < 2) return;
  void* const library = mpi_library();
  const bool may_be_root =
      variable({"OMPI_ALLOW_RUN_AS_ROOT"}) != nullptr && variable({"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) != nullptr;
  if (::geteuid() == 0 && *symbol_of<const bool>(library, gpulog::ranks::open_mpi_name) && !may_be_root)
    throw input_error(
        fmt::format("{} {}: mpirun runs as root only with the variables OMPI_ALLOW_RUN_AS_ROOT=1 and "
                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                    rank_option, ranks));
  // The user has chosen the number of ranks and threads, so ranks may share processors and use any processor. gpulog
  // prints all messages.
  ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
  ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
  ::setenv("OMPI_MCA_orte_execute_quiet", "1", 0);
  // Containers may forbid process_vm_readv, which Open MPI notices only when messages fail.
  ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  ::signal(SIGPIPE, SIG_DFL);
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(ranks),
                                    std::filesystem::read_symlink("/proc/self/exe").string()};
  for (const std::string& argument : arguments) {
    // mpirun has an option --tune and also reads the option from the arguments of the program.
    const bool is_value = words.back() == tune_option;
    if (is_value) (words.back() += '=') += argument;
    if (!is_value) words.push_back(argument);
  }
  std::vector<char*> texts;
  for (std::string& word : words) texts.push_back(word.data());
  texts.push_back(nullptr);
  ::execvp(texts.front(), texts.data());
  throw input_error(fmt::format("{} {}: mpirun cannot be started: {}", rank_option, ranks, ::strerror(errno)));
}

ranks::rank_group* running_ranks() { return group.get(); }

std::string lost_rank() {
  const std::string name = group ? group->ended_rank() : std::string();
  return name.empty() ? name : fmt::format("{}{}{}", lost_begin, name, lost_end);
}

}  // namespace gpulog::cli
