#include "cli/npm_registries.h"

#include <gtest/gtest.h>

namespace unwrite::tests {
namespace {

using cli::npm_registries_of;
using Pairs = cli::NpmRegistries;

TEST(NpmRegistries, AreThoseOfTheFileWithoutLoginsS44) {
    EXPECT_EQ(npm_registries_of("# mine\r\nregistry = https://me:secret@npm.example:8080/a@b/\r\n"
                                "; no\n//npm.example/:_authToken=secret\n"
                                "@acme:registry=\"https://acme.example/\"\nsave-exact=true\n"),
              (Pairs{{"registry", "https://npm.example:8080/a@b/"},
                     {"@acme:registry", "https://acme.example/"}}));
}

TEST(NpmRegistries, TheLastLineCountsAndOddOnesDoNotS44) {
    EXPECT_EQ(npm_registries_of("registry=one\nregistry=two\n"), (Pairs{{"registry", "two"}}));
    EXPECT_EQ(npm_registries_of("registry=\nregistry\n"
                                "@x=y:registry\nregistry=a\x01b\n"),
              Pairs{});
    EXPECT_EQ(npm_registries_of("[section]\nregistry=x\n"), Pairs{});
    EXPECT_EQ(npm_registries_of(""), Pairs{});
    EXPECT_EQ(npm_registries_of("registry=https://a@b@c"), (Pairs{{"registry", "https://c"}}));
}

}  // namespace
}  // namespace unwrite::tests
