/* y = a x over a vector in chunks, from C: the GPU's kernel is in scale_kernel.cu.
     scale [DEVICE [ELEMENTS]] */
#include <stdio.h>
#include <stdlib.h>

#include "shiplap/shiplap.h"

int scale_on_gpu(const shiplap_chunk* chunk, void* user);

static int scale_on_host(const shiplap_chunk* chunk, void* user) {
  const float a = *(const float*)user;
  for (uint64_t i = chunk->first; i < chunk->first + chunk->count; ++i)
    SHIPLAP_ELEMENT(float, chunk->arrays[1], i) = a * SHIPLAP_ELEMENT(const float, chunk->arrays[0], i);
  return 0;
}

static void must(shiplap_status status) {
  if (status == SHIPLAP_SUCCESS) return;
  fprintf(stderr, "%s\n", shiplap_message());
  exit(status);
}

int main(int argc, char** argv) {
  const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1 << 22;
  float a = 2.5f, *x = malloc(n * sizeof(float)), *y = malloc(n * sizeof(float));
  if (x == NULL || y == NULL) return 1;
  for (uint64_t i = 0; i < n; ++i) x[i] = (float)(i % 977);

  shiplap_node* node;
  shiplap_job* job;
  shiplap_plan* plan;
  shiplap_prepared* prepared;
  must(shiplap_open(&node, argc > 1 ? argv[1] : NULL, NULL));
  must(shiplap_job_create(&job, "scale", n));
  must(shiplap_job_array(job, "x", SHIPLAP_IN, x, n, sizeof(float)));
  must(shiplap_job_array(job, "y", SHIPLAP_OUT, y, n, sizeof(float)));
  must(shiplap_job_host_kernel(job, scale_on_host, &a));
#ifdef WITH_CUDA
  must(shiplap_job_gpu_kernel(job, scale_on_gpu, &a));
#endif
  must(shiplap_plan_job(&plan, node, job, NULL));
  fputs(shiplap_explain(plan), stdout);
  must(shiplap_prepare(&prepared, node, plan));
  double seconds;
  must(shiplap_run(prepared, &seconds));
  printf("%s took %.3f ms, %.3f ms predicted\n", shiplap_device(node), seconds * 1e3, shiplap_predicted(plan) * 1e3);

  for (uint64_t i = 0; i < n; ++i)
    if (y[i] != a * x[i]) return fprintf(stderr, "y[%llu] is %g\n", (unsigned long long)i, y[i]), 2;
  shiplap_prepared_destroy(prepared);
  shiplap_plan_destroy(plan);
  shiplap_job_destroy(job);
  shiplap_close(node);
  free(x);
  free(y);
  return 0;
}
