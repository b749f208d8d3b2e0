package dev.doorbell.experiments.scenario.handoff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.PointBench;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Puts that the CPU posts with little around them, as configs run them. */
class HandoffPointTest {
  private final PointBench bench = new PointBench();

  /** The only point of a config with queues in host memory. */
  private static Point point(String metrics, String... settings) throws Exception {
    Map<String, String> values = new LinkedHashMap<>();
    for (String memory : List.of("sq", "cq", "record")) {
      values.put(memory, "host");
    }
    for (String setting : settings) {
      String[] both = setting.split("=", 2);
      values.put(both[0], both[1]);
    }
    StringBuilder fixed = new StringBuilder("fixed:\n");
    values.forEach((name, value) -> fixed.append("  %s: %s%n".formatted(name, value)));
    return PointBench.point(
        new String[] {"size=8"},
        "kernel: proxy_minimal",
        fixed.toString(),
        "measure: { metrics: [%s], warmup: 2, samples: 5 }".formatted(metrics));
  }

  private static double median(PointResult result, String metric) {
    return sorted(result, metric)[samples(result, metric).values().length / 2];
  }

  private static String[] with(String[] settings, String another) {
    String[] all = Arrays.copyOf(settings, settings.length + 1);
    all[settings.length] = another;
    return all;
  }

  private static double[] sorted(PointResult result, String metric) {
    double[] values = samples(result, metric).values().clone();
    Arrays.sort(values);
    return values;
  }

  private static Samples samples(PointResult result, String metric) {
    return result.samples().stream()
        .filter(one -> one.metric().equals(metric))
        .findFirst()
        .orElseThrow();
  }

  private List<String> problems(Point point) {
    return bench.runtime().check(point).stream().map(Problem::what).toList();
  }

  @ParameterizedTest
  @CsvSource({
    "baseline, pull, gpu, record-first, host, virtual",
    "baseline, pull, gpu, blueflame, gpu, wall",
    "tuned, pull, host, record-first, gpu, virtual",
    "tuned, push.inline, host, blueflame, host, wall",
    "baseline, push.inline, host, record-first, host, virtual",
    "full, pull, gpu, record-first, host, virtual",
    "full, push.inline, host, blueflame, gpu, wall",
    "fifo, pull, host, record-first, host, virtual",
    "wide, pull, gpu, blueflame, host, wall"
  })
  void every_handoff_delivers_every_message(
      String handoff, String path, String payload, String ringing, String counter, String clock)
      throws Exception {
    // Rings of two entries are full and wrap all the time.
    PointResult result =
        bench.run(
            point(
                "rate, post, done, round-trip",
                "handoff=" + handoff,
                "path=" + path,
                "payload=" + payload,
                "ringing=" + ringing,
                "counter=" + counter,
                "slots=2"),
            "auto",
            clock);
    // Five launches for the rate, one for the times, and both ways of a ping-pong.
    assertThat(result.verifiedBytes()).isEqualTo(8 * 64);
    assertThat(median(result, "done")).isGreaterThan(median(result, "post"));
  }

  @ParameterizedTest
  @CsvSource({
    "baseline, 8, 5, 3, 2, 4, adaptive",
    "tuned, 6, 8, 8, 4, 1, fixed",
    "full, 7, 2, 2, 2, 8, adaptive",
    "fifo, 8, 3, 2, 1, 16, adaptive",
    "wide, 5, 2, 2, 2, 4, fixed"
  })
  void workers_rings_and_chains_deliver_every_message(
      String handoff, int threads, int rings, int qps, int workers, int batch, String chains)
      throws Exception {
    PointResult result =
        bench.run(
            point(
                "rate",
                "handoff=" + handoff,
                "threads=" + threads,
                "rings=" + rings,
                "qps=" + qps,
                "proxies=" + workers,
                "batch=" + batch,
                "chains=" + chains,
                "window=3",
                "slots=4"));
    assertThat(result.verifiedBytes()).isEqualTo(5L * threads * 64);
    assertThat(median(result, "rate")).isPositive();
  }

  @Test
  void a_tuned_enqueue_is_a_tenth_of_a_baseline_one() throws Exception {
    double baseline = median(bench.run(point("post", "handoff=baseline")), "post");
    double tuned = median(bench.run(point("post", "handoff=tuned")), "post");
    assertThat(tuned).isLessThan(baseline / 10);
  }

  @Test
  void a_probe_on_a_ring_of_its_own_does_not_wait_for_the_background() throws Exception {
    // Few work requests fit the send queue, so that the ring is where messages wait.
    String[] bulk = {"background=4", "bulk=4096", "rings=2", "slots=64", "depth=2"};
    double behind = median(bench.run(point("done", with(bulk, "probe=shared"))), "done");
    double beside = median(bench.run(point("done", with(bulk, "qps=2"))), "done");
    assertThat(behind).isGreaterThan(2 * beside);
  }

  @Test
  void a_point_gives_the_same_samples_again() throws Exception {
    String[] settings = {"threads=4", "rings=4", "qps=2", "proxies=2", "batch=2"};
    assertThat(bench.run(point("rate", settings)).samples())
        .isEqualTo(bench.run(point("rate", settings)).samples());
    assertThat(bench.run(point("post, done", "background=3", "rings=2")).samples())
        .isEqualTo(bench.run(point("post, done", "background=3", "rings=2")).samples());
  }

  @ParameterizedTest
  @CsvSource({
    "pull, gpu, record-first, virtual", "pull, host, blueflame, wall",
    "push.inline, host, record-first, virtual", "push.inline, host, blueflame, virtual"
  })
  void a_cpu_posts_on_its_own_account(String path, String payload, String ringing, String clock)
      throws Exception {
    boolean host = payload.equals("host");
    PointResult result =
        bench.run(
            point(
                "rate, post, cqe, done" + (host ? ", latency, round-trip" : ""),
                "poster=cpu",
                "path=" + path,
                "payload=" + payload,
                "ringing=" + ringing,
                "batch=4"),
            "auto",
            clock);
    assertThat(result.verifiedBytes()).isEqualTo(host ? 6 * 8 : 4 * 8);
    assertThat(median(result, "done")).isGreaterThanOrEqualTo(median(result, "cqe"));
    if (host) {
      assertThat(median(result, "latency")).isEqualTo(median(result, "round-trip") / 2);
    }
  }

  /** By BlueFlame the HCA has the WQE at once: a read of host memory less. */
  @Test
  void a_fetched_wqe_takes_a_read_longer() throws Exception {
    double fetched = median(bench.run(point("cqe", "poster=cpu", "payload=host")), "cqe");
    double blueFlame =
        median(bench.run(point("cqe", "poster=cpu", "payload=host", "ringing=blueflame")), "cqe");
    assertThat(fetched - blueFlame).isBetween(500.0, 2000.0);
  }

  @Test
  void a_cpu_thread_keeps_as_many_puts_in_flight_as_its_window_has() throws Exception {
    double one = median(bench.run(point("rate", "poster=cpu", "payload=host", "window=1")), "rate");
    double many =
        median(bench.run(point("rate", "poster=cpu", "payload=host", "window=16")), "rate");
    assertThat(many).isGreaterThan(3 * one);
  }

  @ParameterizedTest
  @CsvSource({
    "sq=gpu, queues in GPU memory",
    "path=staged, path staged",
    "path=push.inline, 'a payload in GPU memory, inline'",
    "qps=2, 2 queue pairs for 1 rings",
    "proxies=2, 2 CPU threads for 1 queue pairs",
    "background=2, one ring for a probe of its own and for its background",
    "blocks=2, 2 blocks of 1 threads around one that is timed"
  })
  void what_no_cpu_does_is_refused(String setting, String what) throws Exception {
    assertThat(problems(point("post", setting))).contains(what);
  }

  @ParameterizedTest
  @CsvSource({
    "h200-cx7, pull, 1",
    "h200-cx7, pull, 2",
    "h200-cx7, push.inline, 1",
    "gb200-cx7, pull, 1",
    "dgx-h100, pull, 2"
  })
  void a_cpu_that_posts_obeys_littles_law(String placement, String path, int window)
      throws Exception {
    String[] settings = {
      "poster=cpu", "payload=host", "placement=" + placement, "path=" + path, "window=1"
    };
    double done = median(bench.run(point("done", settings), "auto", "virtual"), "done");
    settings[4] = "window=" + window;
    double rate = median(bench.run(point("rate", settings), "auto", "virtual"), "rate");
    assertThat(rate * done / 1e3).isCloseTo(window, within(0.05 * window));
  }

  @Test
  void a_tuned_ring_has_one_producer() throws Exception {
    assertThat(problems(point("rate", "handoff=tuned", "threads=2")))
        .containsExactly("2 producers on 1 rings with handoff tuned");
    assertThat(problems(point("post", "handoff=tuned", "background=1", "rings=2", "probe=shared")))
        .contains("handoff tuned on a shared ring");
  }
}
