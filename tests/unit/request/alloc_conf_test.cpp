#include "request/alloc_conf.h"

#include <gtest/gtest.h>

#include "torchmem/error.h"

namespace torchmem {
namespace {

// What PyTorch 2.11's parser was seen to accept.
TEST(AllocConf, AcceptsWhatPyTorchDoes) {
  for (const char* text : {"",
                           " ",
                           "max_split_size_mb:20",
                           "max_split_size_mb:20,",
                           "max_split_size_mb: 20 , expandable_segments : True",
                           "roundup_power2_divisions:4",
                           "roundup_power2_divisions:[256:1,512:2,>:4]",
                           "roundup_power2_divisions:[256:1,512:2]",
                           "roundup_power2_divisions:[>:4,256:1]",
                           "roundup_power2_divisions:[]",
                           "roundup_power2_divisions:[256:0,>:0]",
                           "roundup_power2_divisions:[256:1,>:4,],max_split_size_mb:30",
                           "garbage_collection_threshold:0.5",
                           "backend:native",
                           "large_segment_size_mb:11",
                           "max_non_split_rounding_mb:20",
                           "pinned_num_register_threads:8",
                           "pinned_reserve_segment_size_mb:1",
                           "per_process_memory_fraction:0",
                           "per_process_memory_fraction:1",
                           "graph_capture_record_stream_reuse:True",
                           "release_lock_on_cudamalloc:False",
                           "pinned_use_background_threads:True",
                           "pinned_use_cuda_host_register:True",
                           "max_split_size_mb:30,max_split_size_mb:40"}) {
    EXPECT_NO_THROW(check_alloc_conf(text, "--alloc-conf")) << text;
  }
}

// What it refuses, or takes for something else without a word.
TEST(AllocConf, RefusesTheRest) {
  for (const char* text : {",",
                           "a",
                           "max_split_size_mb:20,,expandable_segments:True",
                           "max_split_size_mb=8000",
                           "max_split_size_mb:10",
                           "max_split_size_mb:",
                           "max_split_size_mb:abc",
                           "max_split_size_mb:20abc",
                           "max_split_size_mb:20.5",
                           "max_split_size_mb:-1",
                           "max_split_size_mb:[20]",
                           "max_split_size_mb:20:30",
                           "max_split_size_mb:99999999999999999999999",
                           "expandable_segments:true",
                           "expandable_segments:1",
                           "expandable_segments:True expandable_segments:False",
                           "roundup_power2_divisions:3",
                           "roundup_power2_divisions:0",
                           "roundup_power2_divisions:[300:1,>:4]",
                           "roundup_power2_divisions:[256:3,>:4]",
                           "roundup_power2_divisions:[256:1",
                           "garbage_collection_threshold:1.5",
                           "garbage_collection_threshold:0",
                           "garbage_collection_threshold:1",
                           "garbage_collection_threshold:0.5x",
                           "backend:foo",
                           "backend:cudaMallocAsync",
                           "large_segment_size_mb:10",
                           "max_non_split_rounding_mb:19",
                           "pinned_num_register_threads:3",
                           "pinned_num_register_threads:256",
                           "pinned_num_register_threads:0",
                           "pinned_reserve_segment_size_mb:0",
                           "per_process_memory_fraction:2",
                           "per_process_memory_fraction:-1",
                           "foo:1",
                           "MAX_SPLIT_SIZE_MB:30"}) {
    EXPECT_THROW(check_alloc_conf(text, "--alloc-conf"), Error) << text;
  }
}

TEST(AllocConf, ShowsThePart) {
  try {
    check_alloc_conf("expandable_segments:True, roundup_power2_divisions:[256:1,512:3]", "--alloc-conf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_usage);
    EXPECT_NE(std::string(error.what()).find("the part '512:3' is wrong"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace torchmem
