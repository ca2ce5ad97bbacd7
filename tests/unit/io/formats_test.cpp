#include "io/formats.hpp"

#include <sys/stat.h>

#include <map>
#include <set>
#include <string_view>

#include "loading.hpp"

namespace gpulog::io {
namespace {

TEST(formats, have_names_of_their_own_and_do_something) {
  std::set<std::string_view> names;
  for (const format& one : formats()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(find_format(one.name), &one);
    EXPECT_TRUE(one.read != nullptr || one.write != nullptr) << one.name;
    EXPECT_TRUE(!one.prints || one.write != nullptr) << one.name;
    EXPECT_EQ(one.extension.empty(), one.prints || one.write == nullptr) << one.name;
  }
  EXPECT_TRUE(names.contains("file"));
}

TEST(formats, unknown_names_have_none) {
  EXPECT_EQ(find_format("tape"), nullptr);
  EXPECT_EQ(find_format(""), nullptr);
}

TEST(formats, what_is_printed_is_told_apart) {
  write_request request;
  for (const auto& [kind, prints] :
       {std::pair("file", false), std::pair("stdout", true), std::pair("json", true), std::pair("jsonfile", false),
        std::pair("stdoutprintsize", true), std::pair("sqlite", false), std::pair("tape", false)}) {
    request.parameters = {{"IO", kind}};
    EXPECT_EQ(prints_on_standard_output(request), prints) << kind;
  }
  request.output_directory = "-";
  EXPECT_TRUE(prints_on_standard_output(request));
}

TEST(formats, places_of_outputs) {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() / "d");
  std::filesystem::create_directory_symlink("d", folder.path() / "link");
  ::mkfifo((folder.path() / "pipe").c_str(), 0600);
  const auto place = [&](std::map<std::string, std::string> parameters) -> std::string {
    write_request request;
    request.output_directory = folder.path() / "link";
    request.parameters = std::move(parameters);
    try {
      const auto found = place_of("r", request);
      return found ? found->file.lexically_relative(std::filesystem::canonical(folder.path())).string() + "|" +
                         found->part
                   : "nowhere";
    } catch (const user_error& refused) {
      return refused.what();
    }
  };
  EXPECT_EQ(place({}), "d/r.csv|");
  EXPECT_EQ(place({{"compress", "true"}}), "d/r.csv.gz|");
  EXPECT_EQ(place({{"compress", "gzip"}}), "d/r.csv.gz|");
  EXPECT_EQ(place({{"compress", "zstd"}}), "d/r.csv.zst|");
  EXPECT_EQ(place({{"compress", "zstd"}, {"filename", "x"}}), "d/x|");
  EXPECT_EQ(place({{"IO", "jsonfile"}}), "d/r.json|");
  EXPECT_EQ(place({{"IO", "parquet"}}), "d/r.parquet|");
  EXPECT_EQ(place({{"IO", "sqlite"}}), "d/r.sqlite|r");
  EXPECT_EQ(place({{"IO", "sqlite"}, {"dbname", "x"}}), "d/x|r");
  EXPECT_EQ(place({{"filename", "../d/./x"}}), "d/x|");
  EXPECT_EQ(place({{"filename", "../pipe"}}), "nowhere");
  EXPECT_EQ(place({{"IO", "stdout"}}), "nowhere");
  EXPECT_EQ(place({{"IO", "tape"}}), "Error writing r data: Requested output type <tape> is not supported.");
  EXPECT_EQ(place({{"IO", "sqlite"}, {"dbname", ":memory:"}}),
            "Error writing r data: :memory: is a URI or a database in memory, and an output is a file");
  EXPECT_EQ(place({{"compress", "maybe"}}), "d/r.csv.gz|");
  EXPECT_EQ(place({{"IO", "sqlite"}, {"filename", "x"}}), "d/x|r");
}

}  // namespace
}  // namespace gpulog::io
