package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.Sha256;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.run.RunExecution.RunListener;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunExecutionTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration PATIENT = Duration.ofSeconds(30);

  @TempDir private Path folder;
  private final Interruption interruption = new Interruption();

  @Test
  void entries_come_in_plan_order_whatever_ends_first() throws RunException {
    Plan plan = plan("size=pow2(8,1K)");
    PointRunner backwards =
        (point, _) -> {
          pause(plan.points().size() - point.index());
          return FakeRuntime.result(point);
        };
    RunExecution.Outcome outcome = run(plan, backwards, 4, PATIENT);
    assertThat(outcome.entries()).extracting(JournalEntry::index).isSorted();
    assertThat(outcome.entries()).hasSameSizeAs(plan.points());
    assertThat(outcome.interrupted()).isFalse();
  }

  @Test
  void no_more_points_run_at_a_time_than_there_are_workers() throws RunException {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    PointRunner counting =
        (point, _) -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          pause(2);
          running.decrementAndGet();
          return FakeRuntime.result(point);
        };
    run(plan("size=pow2(8,4K)"), counting, 3, PATIENT);
    assertThat(most.get()).isBetween(1, 3);
  }

  @Test
  void a_point_that_fails_does_not_stop_the_others() throws RunException {
    PointRunner failing =
        (point, _) -> {
          if (point.index() == 1) {
            throw new PointFailure(
                PointFailure.Kind.MISMATCH, Problem.of("DB-P002", point.id(), "byte 7 is wrong"));
          }
          return FakeRuntime.result(point);
        };
    RunExecution.Outcome outcome = run(plan(), failing, 2, PATIENT);
    assertThat(outcome.entries()).hasSize(5);
    assertThat(outcome.entries().get(1).status()).isEqualTo(JournalEntry.Status.MISMATCH);
    assertThat(outcome.entries()).filteredOn(e -> e.status() == JournalEntry.Status.OK).hasSize(4);
  }

  @Test
  void a_fault_of_ours_is_a_failed_point_with_its_trace_in_the_log() throws Exception {
    PointRunner faulty =
        (_, _) -> {
          throw new IllegalStateException("ring index out of step");
        };
    RunExecution.Outcome outcome = run(plan(), faulty, 2, PATIENT);
    assertThat(outcome.entries())
        .allSatisfy(
            entry -> {
              assertThat(entry.status()).isEqualTo(JournalEntry.Status.FAILED);
              assertThat(String.valueOf(entry.problem())).contains("DB-P900", "out of step");
            });
    assertThat(folder.toFile().listFiles()).hasSize(1);
    assertThat(java.nio.file.Files.readString(onlyRun().resolve("log.txt")))
        .contains("RunExecutionTest");
  }

  @Test
  void a_point_that_listens_is_stopped_at_its_timeout() throws RunException {
    PointRunner endless =
        (point, context) -> {
          while (!context.cancelled()) {
            pause(1);
          }
          throw new PointFailure(
              PointFailure.Kind.CANCELLED, Problem.of("DB-P003", point.id(), "stopped"));
        };
    RunExecution.Outcome outcome = run(plan("timeout=20ms"), endless, 2, PATIENT);
    assertThat(outcome.entries())
        .hasSize(5)
        .allMatch(entry -> entry.status() == JournalEntry.Status.TIMEOUT);
    assertThat(outcome.interrupted()).isFalse();
  }

  @Test
  void a_point_that_does_not_listen_is_left_behind() throws RunException {
    CountDownLatch never = new CountDownLatch(1);
    PointRunner deaf =
        (point, _) -> {
          if (point.index() == 0) {
            await(never);
          }
          return FakeRuntime.result(point);
        };
    RunExecution.Outcome outcome = run(plan("timeout=1s"), deaf, 1, Duration.ofMillis(10));
    assertThat(outcome.entries()).hasSize(5);
    assertThat(outcome.entries().getFirst().status()).isEqualTo(JournalEntry.Status.TIMEOUT);
    assertThat(outcome.entries().getLast().status()).isEqualTo(JournalEntry.Status.OK);
    never.countDown();
  }

  @Test
  void an_interruption_keeps_what_is_finished_and_resuming_does_the_rest() throws Exception {
    Plan plan = plan("size=pow2(8,1K)");
    PointRunner interrupting =
        (point, _) -> {
          if (point.index() == 3) {
            interruption.request();
          }
          return FakeRuntime.result(point);
        };
    ExperimentConfig config = plan.config();
    try (RunDirectory directory = create(new Disk(), folder, config, NOW)) {
      RunExecution.Outcome outcome =
          execution(directory, interrupting, 1, PATIENT).run(plan.points());
      assertThat(outcome.interrupted()).isTrue();
      assertThat(outcome.entries()).hasSize(4);
    }
    List<JournalEntry> before = Journal.read(onlyRun().resolve("journal.jsonl")).entries();
    assertThat(before).extracting(JournalEntry::index).containsExactly(0, 1, 2, 3);

    List<Point> rest = plan.points().subList(4, plan.points().size());
    try (RunDirectory directory = RunDirectory.reopen(new Disk(), onlyRun())) {
      new RunExecution(
              directory,
              (point, _) -> FakeRuntime.result(point),
              new FakeRuntime()::predict,
              RunListener.SILENT,
              new Interruption(),
              new RunExecution.Limits(2, false, Point::timeout, PATIENT, 0))
          .run(rest);
    }
    assertThat(Journal.read(onlyRun().resolve("journal.jsonl")).entries())
        .hasSize(plan.points().size())
        .startsWith(before.toArray(JournalEntry[]::new));
  }

  @Test
  void an_interruption_does_not_wait_for_a_point_that_does_not_listen() throws RunException {
    CountDownLatch never = new CountDownLatch(1);
    PointRunner deaf =
        (point, _) -> {
          interruption.request();
          await(never);
          return FakeRuntime.result(point);
        };
    RunExecution.Outcome outcome = run(plan(), deaf, 2, Duration.ofMillis(10));
    assertThat(outcome.interrupted()).isTrue();
    assertThat(outcome.entries()).isEmpty();
    never.countDown();
  }

  @Test
  void a_disk_that_fills_up_ends_the_run_with_a_journal_that_vouches_for_every_file_it_names()
      throws Exception {
    Plan plan = plan();
    for (long room = 3000; room < 9000; room += 333) {
      Path parent = java.nio.file.Files.createDirectory(folder.resolve("room" + room));
      FullDisk disk = new FullDisk(room);
      try (RunDirectory directory = create(disk, parent, plan.config(), NOW)) {
        RunExecution execution =
            execution(directory, (point, _) -> FakeRuntime.result(point), 2, PATIENT);
        try {
          execution.run(plan.points());
        } catch (RunException e) {
          assertThat(e.kind()).isEqualTo(RunException.Kind.UNWRITABLE);
          assertThat(e.problem().text()).contains("DB-R002", "No space left");
        }
        for (JournalEntry entry :
            Journal.read(directory.path().resolve("journal.jsonl")).entries()) {
          byte[] bytes =
              java.nio.file.Files.readAllBytes(
                  directory.path().resolve("samples").resolve(String.valueOf(entry.samples())));
          assertThat(Sha256.hex(bytes)).as("room %d", room).isEqualTo(entry.sha256());
        }
      }
    }
  }

  @Test
  void a_run_directory_that_does_not_fit_leaves_nothing() throws Exception {
    assertThatThrownBy(() -> create(new FullDisk(100), folder, plan().config(), NOW))
        .isInstanceOfSatisfying(
            RunException.class, e -> assertThat(e.problem().text()).contains("DB-R001"));
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void two_runs_in_the_same_second_have_directories_of_their_own() throws Exception {
    ExperimentConfig config = plan().config();
    try (RunDirectory first = create(new Disk(), folder, config, NOW);
        RunDirectory second = create(new Disk(), folder, config, NOW)) {
      assertThat(first.id()).startsWith("20260101T000000Z-small-");
      assertThat(second.id()).isEqualTo(first.id() + "-2");
    }
  }

  @Test
  void a_run_that_is_still_going_on_is_not_gone_on_with() throws Exception {
    ExperimentConfig config = plan().config();
    RunDirectory first = create(new Disk(), folder, config, NOW);
    assertThatThrownBy(() -> RunDirectory.reopen(new Disk(), first.path()))
        .isInstanceOfSatisfying(
            RunException.class,
            e -> assertThat(e.problem().text()).contains("DB-R009", "another process", "--resume"));
    first.close();
    RunDirectory.reopen(new Disk(), first.path()).close();
  }

  private Path onlyRun() {
    java.io.File[] files = folder.toFile().listFiles();
    assertThat(files).hasSize(1);
    return files[0].toPath();
  }

  private RunExecution.Outcome run(Plan plan, PointRunner runner, int workers, Duration grace)
      throws RunException {
    try (RunDirectory directory = create(new Disk(), folder, plan.config(), NOW)) {
      return execution(directory, runner, workers, grace).run(plan.points());
    }
  }

  private RunExecution execution(
      RunDirectory directory, PointRunner runner, int workers, Duration grace) {
    return new RunExecution(
        directory,
        runner,
        new FakeRuntime()::predict,
        RunListener.SILENT,
        interruption,
        new RunExecution.Limits(workers, false, Point::timeout, grace, 0));
  }

  private static Plan plan(String... overrides) {
    return Plan.of(Configs.read(Configs.SMALL, overrides));
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static RunDirectory create(Disk disk, Path parent, ExperimentConfig config, Instant now)
      throws RunException {
    RunDirectory directory = RunDirectory.prepare(disk, parent, config, now);
    directory.publish();
    return directory;
  }
}
