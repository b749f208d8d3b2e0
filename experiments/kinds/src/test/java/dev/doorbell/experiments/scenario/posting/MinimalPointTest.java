package dev.doorbell.experiments.scenario.posting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.doorbell.experiments.plan.PointResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Points of put_minimal, as configs run them. */
class MinimalPointTest {
  private final Points points = new Points();

  private PointResult run(String metrics, String... settings) throws Exception {
    return points.run(Points.point("put_minimal", metrics, settings));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "none",
        "fence",
        "fence-sc",
        "fenced-record",
        "release",
        "release-system",
        "system",
        "no-record",
        "twice"
      })
  void every_order_delivers_every_message(String order) throws Exception {
    PointResult result =
        run("rate, post, done, cqe", "order=" + order, "size=24", "path=push.inline");
    // Four launches for the rate, one of them half as long, and one for the times.
    assertThat(result.verifiedBytes()).isEqualTo(5 * 24);
    assertThat(Points.most(result, "done"))
        .isCloseTo(Points.most(result, "post") + Points.most(result, "cqe"), within(2.0));
  }

  @Test
  void what_is_read_back_is_rung_for_and_costs_less_than_a_fence() throws Exception {
    double[] post = new double[3];
    String[] orders = {"none", "read-back", "fence"};
    for (int i = 0; i < orders.length; i++) {
      PointResult result =
          run(
              "post",
              "placement=h200-cx7",
              "state=registers",
              "path=pull",
              "size=8",
              "order=" + orders[i]);
      post[i] = Points.most(result, "post");
    }
    // One load's latency, 140 ns, in place of a fence's 280.
    assertThat(post[1]).isBetween(post[0] + 140, post[2]);
    PointResult batches =
        run("rate", "state=registers", "path=pull", "batch=3", "size=8", "order=read-back");
    assertThat(batches.verifiedBytes()).isEqualTo(4 * 8);
  }

  @ParameterizedTest
  @CsvSource({
    "memory,    own,   thread, 8,  direct",
    "registers, turns, thread, 8,  direct",
    "registers, own,   warp,   8,  direct",
    "registers, own,   thread, 16, direct",
    "registers, own,   thread, 8,  cpu-rung"
  })
  void what_is_read_back_is_of_threads_with_registers_and_a_queue_pair_each(
      String state, String sharing, String scope, int size, String posting) {
    assertThatThrownBy(
            () ->
                run(
                    "post",
                    "order=read-back",
                    "path=push.inline",
                    "threads=32",
                    "qps=32",
                    "state=" + state,
                    "sharing=" + sharing,
                    "scope=" + scope,
                    "size=" + size,
                    "posting=" + posting))
        .hasMessageContaining("order read-back");
  }

  @ParameterizedTest
  @CsvSource({
    "lock, thread, all, 9, 1", "lock, warp, last, 32, 1", "turns, thread, last, 9, 3",
    "turns, warp, all, 64, 1", "own, warp, all, 32, 1", "own, thread, last, 1, 7",
    "marks, thread, all, 9, 1", "marks, warp, last, 64, 1", "visits, thread, all, 1, 7"
  })
  void every_way_to_share_a_queue_pair_delivers_every_message(
      String sharing, String scope, String signaled, int threads, int batch) throws Exception {
    PointResult result =
        run(
            "rate, post",
            "sharing=" + sharing,
            "scope=" + scope,
            "signaled=" + signaled,
            "threads=" + threads,
            "batch=" + batch,
            "blocks=2",
            "qps=2");
    assertThat(result.verifiedBytes()).isEqualTo(5L * 2 * threads * 64);
  }

  @Test
  void a_fence_of_system_scope_costs_more_than_one_of_the_gpus_and_that_more_than_none()
      throws Exception {
    double none = Points.most(run("post", "order=none"), "post");
    double fence = Points.most(run("post", "order=fence"), "post");
    double system = Points.most(run("post", "order=system"), "post");
    assertThat(fence).isGreaterThan(none);
    assertThat(system).isGreaterThan(fence);
  }

  @ParameterizedTest
  @ValueSource(strings = {"own, thread, 1", "own, warp, 32", "turns, warp, 64"})
  void looking_at_each_cqe_finds_them_all(String how) throws Exception {
    String[] words = how.split(", ", -1);
    String[] settings = {
      "sharing=" + words[0], "scope=" + words[1], "threads=" + words[2], "looks=each"
    };
    assertThat(run("rate", settings).verifiedBytes())
        .isEqualTo(4L * Integer.parseInt(words[2]) * 64);
  }

  @Test
  void loads_from_memory_between_fences_cost_a_put_more_than_registers() throws Exception {
    String[] plain = {"placement=h200-cx7", "path=pull"};
    double registers =
        Points.most(run("post", "placement=h200-cx7", "path=pull", "state=registers"), "post");
    double memory = Points.most(run("post", plain), "post");
    double keys =
        Points.most(run("post", "placement=h200-cx7", "path=pull", "keys=memory"), "post");
    // A load that the first cache has not takes 140 ns there, 16 otherwise.
    assertThat(memory).isBetween(registers + 100, registers + 300);
    assertThat(keys).isBetween(memory + 100, memory + 300);
  }

  @Test
  void the_rate_of_one_poster_does_not_depend_on_how_many_doorbells_are_in_flight_at_the_ends()
      throws Exception {
    double[] rates = new double[2];
    for (int i = 0; i < rates.length; i++) {
      rates[i] =
          Points.most(
              run(
                  "rate",
                  "placement=h200-cx7",
                  "looks=each",
                  "depth=256",
                  "window=" + (32 << (2 * i))),
              "rate");
    }
    assertThat(rates[1]).isCloseTo(rates[0], withinPercentage(2));
  }

  @Test
  void a_slower_sm_clock_makes_a_post_slower_and_leaves_the_way_to_the_hca() throws Exception {
    String[] own = {"placement=h200-cx7", "path=push.inline", "size=8"};
    String[] half = {"placement=h200-cx7", "path=push.inline", "size=8", "sm_mhz=990"};
    double post = Points.most(run("post", own), "post");
    assertThat(Points.most(run("post", half), "post")).isCloseTo(2 * post, withinPercentage(2));
    double done = Points.most(run("done", own), "done");
    assertThat(Points.most(run("done", half), "done")).isBetween(done + post, 1.5 * done);
  }

  @Test
  void an_sm_clock_needs_a_topology_that_says_at_which_clock_its_prices_are() {
    assertThatThrownBy(() -> run("post", "placement=same-switch", "sm_mhz=990"))
        .hasMessageContaining("DB-T017")
        .hasMessageContaining("clock_ghz");
  }

  @Test
  void visits_go_through_all_queue_pairs_and_both_ranks_may_post() throws Exception {
    String[] settings = {"sharing=visits", "blocks=2", "qps=14", "batch=4", "window=2", "size=8"};
    assertThat(run("rate", settings).verifiedBytes()).isEqualTo(4L * 2 * 8);
    String[] both = Arrays.copyOf(settings, settings.length + 1);
    both[settings.length] = "direction=both";
    assertThat(run("rate", both).verifiedBytes()).isEqualTo(2 * 4L * 2 * 8);
  }

  @ParameterizedTest
  @CsvSource({"pull, 100", "push.inline, 8", "push.inline, 100"})
  void initiators_deliver_every_message_to_one_target_after_the_other(String path, int size)
      throws Exception {
    PointResult result =
        run(
            "rate, post, done",
            "transport=dc",
            "sharing=own",
            "path=" + path,
            "size=" + size,
            "blocks=2",
            "threads=3",
            "qps=6",
            "batch=4");
    assertThat(result.verifiedBytes()).isEqualTo(5L * 6 * size);
    PointResult visits =
        run(
            "rate",
            "transport=dc",
            "sharing=visits",
            "path=" + path,
            "size=" + size,
            "blocks=2",
            "qps=14",
            "batch=4",
            "window=2");
    assertThat(visits.verifiedBytes()).isEqualTo(4L * 2 * size);
  }

  @ParameterizedTest
  @CsvSource({
    "'scope=warp threads=64', 64",
    "'sharing=turns scope=warp threads=32 looks=each', 32",
    "'sharing=lock threads=5 qps=3 batch=2 keys=memory path=pull', 5",
    "'sharing=marks threads=5 state=registers', 5",
    "'state=registers batch=3 looks=each signaled=last', 1",
    "'sharing=turns threads=5 posting=cpu-rung await=queue', 5",
    "'state=registers posting=cpu-rung await=all', 1",
    "'threads=3 qps=2 direction=both', 6",
    "'sharing=visits qps=8 direction=both posting=cpu-rung', 2"
  })
  void initiators_post_in_every_way_that_queue_pairs_do(String settings, int messages)
      throws Exception {
    PointResult result =
        run("rate, post, done", ("transport=dc size=16 " + settings).split(" ", -1));
    assertThat(result.verifiedBytes()).isEqualTo(5L * messages * 16);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "transport=dc qps=3 posting=cpu-rung",
        "state=registers path=pull",
        "transport=dc state=registers path=pull keys=memory",
        "batch=4 posting=cpu-rung"
      })
  void round_trips_need_their_last_word_whoever_rings_and_whatever_connects(String settings)
      throws Exception {
    String how = settings.contains("path") ? settings : settings + " path=push.inline";
    assertThat(Points.most(run("round-trip", (how + " size=8").split(" ", -1)), "round-trip"))
        .isPositive();
  }

  @ParameterizedTest
  @CsvSource({
    "'transport=dc', 1",
    "'transport=dc sharing=turns probe=shared', 1",
    "'posting=cpu-rung qps=3 state=registers', 1",
    "'qps=3 batch=2 direction=both', 2"
  })
  void a_probe_beside_a_background_posts_in_every_way(String settings, int ranks) throws Exception {
    String fixed = " size=8 path=push.inline background=1 threads=2 bulk=4096 window=2";
    assertThat(run("post, done", (settings + fixed).split(" ", -1)).verifiedBytes())
        .isEqualTo(ranks * 3L * 4096L);
  }

  @Test
  void times_of_visits_are_of_one_put_each() throws Exception {
    String[] one = {"path=push.inline", "size=8", "sharing=visits", "qps=1"};
    double single = Points.most(run("done", one), "done");
    one[3] = "qps=6";
    assertThat(Points.most(run("done", one), "done")).isCloseTo(single, withinPercentage(10));
  }

  @Test
  void both_directions_at_once_take_a_put_no_less() throws Exception {
    String[] one = {"path=push.inline", "size=8", "keys=memory", "direction=one"};
    double alone = Points.most(run("done", one), "done");
    one[3] = "direction=both";
    assertThat(Points.most(run("done", one), "done")).isBetween(alone, 2 * alone);
  }

  @Test
  void a_change_of_target_waits_for_what_is_under_way_and_for_a_state_that_nobody_holds()
      throws Exception {
    String[] settings = {
      "qps=1",
      "size=16K",
      "transport=dc",
      "placement=h100-cx7",
      "path=pull",
      "sharing=visits",
      "batch=1",
      "window=16",
      "depth=128"
    };
    double large = Points.most(run("rate", settings), "rate");
    settings[0] = "qps=2";
    double largeChanging = Points.most(run("rate", settings), "rate");
    settings[1] = "size=8";
    double changing = Points.most(run("rate", settings), "rate");
    settings[3] = "placement=h200-cx7";
    double held = Points.most(run("rate", settings), "rate");
    // A round trip a visit, in which messages do not overlap any more.
    assertThat(largeChanging).isLessThan(0.7 * large);
    // The machines differ in that one holds the state of every connection.
    assertThat(changing).isLessThan(0.95 * held);
  }

  @Test
  void a_wait_for_all_queue_pairs_grows_with_their_number() throws Exception {
    double one = Points.most(run("done", "await=all"), "done");
    double many = Points.most(run("done", "await=all", "qps=9"), "done");
    assertThat(many).isGreaterThan(one + 8 * 100);
  }

  @Test
  void polls_that_drift_find_a_cqe_at_times_that_differ_and_repeat_themselves() throws Exception {
    String[] settings = {"placement=h200-cx7", "path=push.inline", "size=8"};
    PointResult once = run("cqe", settings);
    assertThat(run("cqe", settings).samples()).isEqualTo(once.samples());
    assertThat(Arrays.stream(once.samples().getFirst().values()).distinct().count())
        .isGreaterThan(1);
  }

  @Test
  void a_look_after_a_rest_does_not_wait_for_the_hca() throws Exception {
    double waits = Points.most(run("look"), "look");
    double looks = Points.most(run("look", "rest=30000"), "look");
    assertThat(looks).isLessThan(waits / 3);
  }

  @ParameterizedTest
  @CsvSource({
    "h200-cx7, 1",
    "h200-cx7, 2",
    "h200-cx7-rc, 1",
    "h200nvl-cx7-far, 1",
    "h800-cx7, 2",
    "gb200-cx7, 1",
    "same-switch, 1",
    "cross-socket, 2",
    "two-gpus, 1"
  })
  void window_latency_and_rate_obey_littles_law(String placement, int window) throws Exception {
    for (String path : List.of("pull", "push.inline")) {
      String[] one = {"placement=" + placement, "size=8", "depth=64", "path=" + path, "window=1"};
      double[] done = Points.samples(run("done", one), "done").values();
      double micros = Arrays.stream(done).average().orElseThrow() / 1e3;
      one[4] = "window=" + window;
      assertThat(Points.most(run("rate", one), "rate") * micros)
          .as(path)
          .isCloseTo(window, within(0.05 * window));
    }
  }

  @Test
  void round_trips_are_of_two_puts_and_repeat_themselves() throws Exception {
    PointResult once = run("round-trip", "size=8", "path=push.inline");
    PointResult again = run("round-trip", "size=8", "path=push.inline");
    assertThat(again.samples()).isEqualTo(once.samples());
    double done = Points.most(run("done", "size=8", "path=push.inline"), "done");
    assertThat(Points.most(once, "round-trip")).isBetween(done, 2.5 * done);
  }

  @Test
  void inline_payload_fills_a_wqe_of_sixteen_blocks_and_each_unit_costs_a_post_alike()
      throws Exception {
    String[] most = {"placement=h200-cx7", "path=push.inline", "size=972"};
    String[] half = {"placement=h200-cx7", "path=push.inline", "size=492"};
    PointResult result = run("post", most);
    assertThat(result.verifiedBytes()).isEqualTo(972);
    double unit = (Points.most(result, "post") - Points.most(run("post", half), "post")) / 30;
    assertThat(unit).isBetween(80.0, 130.0);
  }

  @Test
  void the_cpu_rings_for_wqes_that_the_gpu_built() throws Exception {
    String[] rung = {"placement=h200-cx7", "path=push.inline", "size=8", "posting=cpu-rung"};
    PointResult result = run("rate, post, done", rung);
    assertThat(result.verifiedBytes()).isEqualTo(5 * 8);
    double direct =
        Points.most(run("done", "placement=h200-cx7", "path=push.inline", "size=8"), "done");
    // The request takes 376 ns to host memory, and the CPU's doorbell 225 to the HCA instead of
    // 240.
    assertThat(Points.most(result, "done")).isBetween(direct + 200, direct + 1500);
  }

  @ParameterizedTest
  @CsvSource({
    "shared, lock, 1, 2",
    "shared, turns, 1, 2",
    "shared, marks, 1, 2",
    "own, own, 3, 2",
    "own, turns, 2, 2"
  })
  void a_put_beside_a_background_of_bulk_takes_longer_and_all_of_it_arrives(
      String probe, String sharing, int qps, int blocks) throws Exception {
    String[] beside = {
      "placement=h200-cx7",
      "path=push.inline",
      "size=8",
      "probe=" + probe,
      "sharing=" + sharing,
      "qps=" + qps,
      "background=" + blocks,
      "bulk=16384",
      "window=2"
    };
    PointResult result = run("done", beside);
    assertThat(result.verifiedBytes()).isEqualTo((1 + blocks) * 16384L);
    double alone =
        Points.most(run("done", "placement=h200-cx7", "path=push.inline", "size=8"), "done");
    assertThat(Points.most(result, "done")).isGreaterThan(alone);
  }

  @Test
  void a_put_on_a_queue_pair_of_its_own_does_not_wait_for_the_backlog_of_sixteen_others()
      throws Exception {
    String[] beside = {
      "placement=h200-cx7",
      "path=push.inline",
      "size=8",
      "qps=17",
      "background=16",
      "bulk=65536",
      "window=4",
      "probe=own"
    };
    // 4 MiB are posted, 168 us of the wire; the HCA holds 64 KiB, 2.6 us, of which a put meets two.
    assertThat(Points.most(run("done", beside), "done")).isBetween(4_000.0, 4_000 + 2.5 * 2_621);
    beside[3] = "qps=1";
    beside[7] = "probe=shared";
    String[] shared = Arrays.copyOf(beside, beside.length + 1);
    shared[beside.length] = "sharing=turns";
    // On the queue pair of the bulk it comes behind what is posted there.
    assertThat(Points.most(run("done", shared), "done")).isGreaterThan(30_000);
  }

  @Test
  void one_direction_is_limited_by_the_side_that_does_not_stand_for_many(@TempDir Path folder)
      throws Exception {
    String machine = Files.readString(Path.of("topologies/h100-cx7.yaml"));
    assertThat(machine).contains("connections: {value: 1350");
    Path few =
        Files.writeString(
            folder.resolve("few.yaml"),
            machine.replace("connections: {value: 1350", "connections: {value: 128"));
    String[] visits = {
      "placement=" + few,
      "path=push.inline",
      "size=8",
      "sharing=visits",
      "blocks=16",
      "qps=256",
      "batch=8",
      "window=1",
      "depth=8",
      "direction=one"
    };
    double one = Points.most(run("rate", visits), "rate");
    visits[visits.length - 1] = "direction=send";
    double send = Points.most(run("rate", visits), "rate");
    visits[visits.length - 1] = "direction=receive";
    double receive = Points.most(run("rate", visits), "rate");
    // 256 connections are more than the receiver holds.
    assertThat(send).isGreaterThan(1.05 * one);
    assertThat(receive).isCloseTo(one, withinPercentage(15));
  }

  @ParameterizedTest
  @CsvSource({
    "size=973, 973 bytes inline",
    "transport=dc size=925, 925 bytes inline",
    "posting=cpu-rung proxies=2, 2 CPU threads for 1 queue pairs",
    "background=1, a background of other metrics than times",
    "scope=block, scope block",
    "threads=2, '2 posters share 1 queue pair, and sharing is own'",
    "depth=16, 40 blocks in a ring of 16",
    "sharing=visits state=registers, state registers with sharing visits",
    "sharing=visits scope=warp threads=2, 2 threads in scope warp",
    "sharing=visits qps=3 threads=2, 3 queue pairs for 2 posters to visit"
  })
  void what_the_kernel_does_not_do_is_refused(String setting, String what) throws Exception {
    String batch = setting.startsWith("depth") ? "batch=20" : "batch=1";
    assertThat(
            points.problems(
                Points.point(
                    "put_minimal",
                    "rate",
                    (setting + " " + batch + " path=push.inline").split(" ", -1))))
        .contains(what);
  }
}
