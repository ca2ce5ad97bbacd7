#include "io/files/output_files.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "loading.hpp"

namespace gpulog::io {
namespace {

TEST(output_files, appear_together) {
  const temporary_folder folder;
  folder.write("b", "old");
  output_files files;
  for (const char* name : {"a", "b"}) {
    output_file file(folder.path() / name);
    file.write("new ");
    file.write(name);
    file.close();
    files.add(std::move(file));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "a"));
  EXPECT_EQ(folder.read("b"), "old");
  files.commit();
  EXPECT_EQ(folder.read("a"), "new a");
  EXPECT_EQ(folder.read("b"), "new b");
  EXPECT_EQ(folder.file_count(), 2U);
}

TEST(output_files, are_found_by_every_path) {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() / "real");
  std::filesystem::create_directory_symlink("real", folder.path() / "link");
  folder.write("real/target", "old");
  std::filesystem::create_symlink("target", folder.path() / "real/other");
  output_files files;
  for (const char* name : {"link/a", "real/b", "real/target"}) {
    output_file file(folder.path() / name);
    file.close();
    files.add(std::move(file));
  }
  const auto name_of = [&](const char* path) {
    const output_file* const found = files.find(folder.path() / path);
    return found == nullptr ? "" : found->path().filename().string();
  };
  EXPECT_EQ(name_of("real/a"), "a");
  EXPECT_EQ(name_of("link/b"), "b");
  EXPECT_EQ(name_of("real/../link/./b"), "b");
  EXPECT_EQ(name_of("link/other"), "target");
  EXPECT_EQ(name_of("real/c"), "");
  EXPECT_EQ(name_of("a"), "");
}

TEST(output_files, nothing_is_left_without_commit) {
  const temporary_folder folder;
  {
    output_files files;
    output_file file(folder.path() / "a");
    file.write("x");
    file.close();
    files.add(std::move(file));
    output_file open_file(folder.path() / "b");
    EXPECT_EQ(folder.file_count(), 2U);
  }
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(output_files, nothing_is_left_by_a_process_that_is_ended) {
  const temporary_folder folder;
  output_file file(folder.path() / "a");
  file.write("x");
  EXPECT_EQ(folder.file_count(), 1U);
  remove_unfinished_outputs();
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(output_files, keep_permissions_and_links) {
  const temporary_folder folder;
  folder.write("target", "old");
  ::chmod((folder.path() / "target").c_str(), 0640);
  std::filesystem::create_symlink("target", folder.path() / "link");
  output_files files;
  output_file file(folder.path() / "link");
  file.write("new");
  file.close();
  files.add(std::move(file));
  files.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
  EXPECT_EQ(folder.read("target"), "new");
  struct stat status {};
  ::stat((folder.path() / "target").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(output_files, devices_are_written_in_place) {
  output_files files;
  output_file file("/dev/null");
  file.write("x");
  file.close();
  files.add(std::move(file));
  files.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(output_files, a_temporary_name_that_is_taken_is_not_followed) {
  const temporary_folder folder;
  folder.write("precious", "old");
  // The next names of this process, whatever other tests have made.
  for (int number = 0; number < 200; ++number) {
    std::filesystem::create_symlink("precious", folder.path() / (".a." + std::to_string(::getpid()) + "." +
                                                                 std::to_string(number) + ".unfinished"));
  }
  output_files files;
  output_file file(folder.path() / "a");
  file.write("new");
  file.close();
  files.add(std::move(file));
  files.commit();
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_EQ(folder.read("precious"), "old");
}

TEST(output_files, may_be_executable) {
  const temporary_folder folder;
  output_file file(folder.path() / "a", replaceable::regular_file);
  file.make_executable();
  file.close();
  file.rename();
  struct stat status {};
  ::stat((folder.path() / "a").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0111U, 0111U);
}

std::string opening_error(const std::filesystem::path& path, replaceable old = replaceable::what_is_written) {
  try {
    const output_file file(path, old);
  } catch (const output_error& problem) {
    return problem.what();
  }
  return "no error";
}

TEST(output_files, may_replace_nothing_but_files) {
  const temporary_folder folder;
  const std::string path = folder.path().string();
  folder.write("target", "old");
  std::filesystem::create_symlink("target", folder.path() / "link");
  std::filesystem::create_symlink("nothing", folder.path() / "dangling");
  ::mkfifo((folder.path() / "pipe").c_str(), 0600);
  for (const char* name : {"link", "dangling", "pipe"}) {
    EXPECT_EQ(opening_error(folder.path() / name, replaceable::regular_file),
              "Cannot replace " + path + "/" + name + ": it is not a regular file");
  }
  EXPECT_EQ(opening_error("/dev/null", replaceable::regular_file),
            "Cannot replace /dev/null: it is not a regular file");
  EXPECT_EQ(opening_error(folder.path() / "target", replaceable::regular_file), "no error");
  EXPECT_EQ(folder.read("target"), "old");
}

TEST(output_files, cannot_be_opened) {
  const temporary_folder folder;
  const std::string path = folder.path().string();
  EXPECT_EQ(opening_error(folder.path() / "none" / "a"),
            "Cannot open output file " + path + "/none/a: there is no folder " + path + "/none");
  EXPECT_EQ(opening_error(folder.path()), "Cannot open output file " + path + ": Is a directory");
  if (::geteuid() != 0) {
    ::chmod(path.c_str(), 0500);
    EXPECT_EQ(opening_error(folder.path() / "a"), "Cannot open output file " + path + "/a: Permission denied");
    ::chmod(path.c_str(), 0700);
    folder.write("protected", "old");
    ::chmod((folder.path() / "protected").c_str(), 0400);
    EXPECT_EQ(opening_error(folder.path() / "protected"),
              "Cannot open output file " + path + "/protected: Permission denied");
  }
}

TEST(output_files, a_size_limit_is_an_error_and_leaves_no_file) {
  const temporary_folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int result = 1;
    try {
      output_file file(folder.path() / "a");
      file.write(std::string(5000, 'x'));
    } catch (const output_error& problem) {
      result = std::string(problem.what()).ends_with("/a: File too large") ? 0 : 2;
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(folder.file_count(), 0U);
}

}  // namespace
}  // namespace gpulog::io
