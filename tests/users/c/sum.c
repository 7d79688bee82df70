/* A programmer of instruments in C: sums the counts of every channel, and wants to know why a call failed. */
#include <shiplap/shiplap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 20000, COUNTS = 64 };

static int sum_channels(const shiplap_chunk* chunk, void* user) {
  const double scale = *(const double*)user;
  for (uint64_t c = chunk->first; c < chunk->first + chunk->count; ++c) {
    double sum = 0;
    for (uint64_t k = c * COUNTS; k < (c + 1) * COUNTS; ++k)
      sum += SHIPLAP_ELEMENT(const uint16_t, chunk->arrays[0], k);
    SHIPLAP_ELEMENT(double, chunk->arrays[1], c) = scale * sum;
  }
  return 0;
}
static int broken(const shiplap_chunk* chunk, void* user) { return chunk != NULL && user == NULL ? 7 : 0; }

static void need(shiplap_status status, shiplap_status expected, const char* text) {
  if (status == expected && (expected == SHIPLAP_SUCCESS || strstr(shiplap_message(), text) != NULL)) return;
  fprintf(stderr, "status %d instead of %d: %s\n", (int)status, (int)expected, shiplap_message());
  exit(1);
}
static void ok(shiplap_status status) { need(status, SHIPLAP_SUCCESS, ""); }

int main(int argc, char** argv) {
  const char* device = argc > 1 ? argv[1] : "virtual:h200";
  shiplap_node* node;
  shiplap_job *job, *bad;
  shiplap_plan *plan, *bad_plan;
  shiplap_prepared *prepared, *bad_prepared;
  uint16_t* counts;
  double scale = 0.5, seconds = 0, *sums = malloc(CHANNELS * sizeof(double));

  need(shiplap_open(&node, "virtual:no-such-gpu", NULL), SHIPLAP_USAGE, "no-such-gpu");
  ok(shiplap_open(&node, device, NULL));
  ok(shiplap_allocate(node, (void**)&counts, sizeof(uint16_t) * CHANNELS * COUNTS));
  for (size_t i = 0; i < (size_t)CHANNELS * COUNTS; ++i) counts[i] = (uint16_t)(i * 40503u >> 3);
  ok(shiplap_job_create(&job, "sum", CHANNELS));
  ok(shiplap_job_array(job, "counts", SHIPLAP_IN, counts, CHANNELS * COUNTS, sizeof *counts));
  need(shiplap_job_array(job, "nothing", SHIPLAP_OUT, NULL, CHANNELS, sizeof *sums), SHIPLAP_USAGE, "nothing");
  need(shiplap_job_halo(job, "missing", 1, 1), SHIPLAP_USAGE, "missing");
  ok(shiplap_job_array(job, "sums", SHIPLAP_OUT, sums, CHANNELS, sizeof *sums));
  ok(shiplap_job_host_kernel(job, sum_channels, &scale));
  ok(shiplap_job_work(job, (double)CHANNELS * COUNTS, 1, 0));
  shiplap_options options = SHIPLAP_OPTIONS;
  options.runs = 2, options.check_reach = 1;
  ok(shiplap_plan_job(&plan, node, job, &options));
  ok(shiplap_prepare(&prepared, node, plan));
  for (int run = 0; run < 2; ++run) ok(shiplap_run(prepared, &seconds));
  for (size_t c = 0, k = 0; c < CHANNELS; ++c) {
    unsigned long sum = 0;
    while (k < (c + 1) * COUNTS) sum += counts[k++];
    if (sums[c] != 0.5 * (double)sum) return fprintf(stderr, "channel %zu: %g\n", c, sums[c]), 1;
  }
  if (!(seconds > 0.5 * shiplap_predicted(plan)) || seconds > 2 * shiplap_predicted(plan)) return 1;
  ok(shiplap_job_create(&bad, "broken", CHANNELS));
  ok(shiplap_job_array(bad, "sums", SHIPLAP_OUT, sums, CHANNELS, sizeof *sums));
  ok(shiplap_job_host_kernel(bad, broken, NULL));
  ok(shiplap_plan_job(&bad_plan, node, bad, NULL));
  ok(shiplap_prepare(&bad_prepared, node, bad_plan));
  need(shiplap_run(bad_prepared, NULL), SHIPLAP_FAILURE, "7");

  printf("shiplap %s on %s: %.1f us\n%s\n", shiplap_version(), shiplap_device(node), 1e6 * seconds, shiplap_message());
  shiplap_prepared_destroy(bad_prepared), shiplap_plan_destroy(bad_plan), shiplap_job_destroy(bad);
  shiplap_prepared_destroy(prepared), shiplap_plan_destroy(plan), shiplap_job_destroy(job);
  ok(shiplap_free(node, counts));
  shiplap_close(node), free(sums);
}
