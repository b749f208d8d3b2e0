package dev.doorbell.interop.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.control.HostPort;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class JobMeetingTest {
  private static final long PATIENT = 30_000_000_000L;

  /** A rank that comes has to be there within it, whatever else the machine does. */
  private static final long HASTY = 3_000_000_000L;

  @Test
  void launchers_are_known_by_their_variables() throws EnvironmentException {
    JobRank open =
        JobRank.of(
                Map.of(
                    "OMPI_COMM_WORLD_RANK", "2",
                    "OMPI_COMM_WORLD_SIZE", "4",
                    "OMPI_COMM_WORLD_LOCAL_SIZE", "4",
                    "PMIX_NAMESPACE", "12345"))
            .orElseThrow();
    assertThat(open.rank()).isEqualTo(2);
    assertThat(open.size()).isEqualTo(4);
    assertThat(open.meeting()).isNotNull().extracting(HostPort::host).isEqualTo("127.0.0.1");
    JobRank slurm =
        JobRank.of(
                Map.of(
                    "SLURM_PROCID", "1",
                    "SLURM_NTASKS", "8",
                    "SLURM_NODELIST", "gpu[07-10,12],cpu3",
                    "SLURM_JOB_ID", "77"))
            .orElseThrow();
    assertThat(slurm.meeting()).isNotNull().extracting(HostPort::host).isEqualTo("gpu07");
    JobRank torch =
        JobRank.of(
                Map.of(
                    "RANK", "0", "WORLD_SIZE", "2", "MASTER_ADDR", "head", "MASTER_PORT", "29500"))
            .orElseThrow();
    assertThat(torch.meeting()).isEqualTo(new HostPort("head", 29501));
    JobRank pmi = JobRank.of(Map.of("PMI_RANK", "3", "PMI_SIZE", "4")).orElseThrow();
    assertThat(pmi.meeting()).isNull();
    assertThat(pmi.meetingAt("head:7000").meeting()).isEqualTo(new HostPort("head", 7000));
  }

  @Test
  void the_first_of_a_list_of_nodes_is_found() {
    assertThat(JobRank.firstNode("a[003-010]")).isEqualTo("a003");
    assertThat(JobRank.firstNode("a7,b9")).isEqualTo("a7");
    assertThat(JobRank.firstNode("rack-2-n[1,3]")).isEqualTo("rack-2-n1");
    assertThat(JobRank.firstNode("")).isEmpty();
  }

  @Test
  void a_process_alone_is_no_job_and_nonsense_is_told() throws EnvironmentException {
    assertThat(JobRank.of(Map.of())).isEmpty();
    assertThat(JobRank.of(Map.of("RANK", "0", "WORLD_SIZE", "1", "MASTER_PORT", "1"))).isEmpty();
    assertThatThrownBy(() -> JobRank.of(Map.of("PMI_RANK", "4", "PMI_SIZE", "4")))
        .isInstanceOfSatisfying(
            EnvironmentException.class,
            e -> assertThat(e.problem().text()).contains("DB-E050", "from 0 to 3"));
  }

  @Test
  void every_rank_gets_the_values_of_all_in_their_order() throws Exception {
    List<Future<List<String>>> ranks = new ArrayList<>();
    HostPort at = free();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int rank = 0; rank < 4; rank++) {
        JobRank self = new JobRank(rank, 4, "test", at);
        ranks.add(
            threads.submit(
                () -> {
                  try (JobMeeting meeting = JobMeeting.join(self, PATIENT)) {
                    meeting.gather("first", "");
                    meeting.setTimeout(PATIENT);
                    List<String> values = meeting.gather("second", "/runs/part " + self.rank());
                    meeting.gather("last", "");
                    return values;
                  }
                }));
      }
      for (Future<List<String>> rank : ranks) {
        assertThat(rank.get())
            .containsExactly("/runs/part 0", "/runs/part 1", "/runs/part 2", "/runs/part 3");
      }
    }
  }

  @Test
  void a_rank_that_does_not_come_is_named_to_the_others() throws Exception {
    HostPort at = free();
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      List<Future<String>> present = new ArrayList<>();
      for (int rank : new int[] {0, 1, 3}) {
        JobRank self = new JobRank(rank, 4, "test", at);
        present.add(threads.submit(() -> trouble(self)));
      }
      for (Future<String> told : present) {
        assertThat(told.get()).contains("DB-E051", "rank 2 did not come within 3.0 s");
      }
    }
  }

  /** Whoever hears it leaves at once, rank 0 too: the others hear it all the same. */
  private static String trouble(JobRank self) {
    try (JobMeeting meeting = JobMeeting.join(self, HASTY)) {
      meeting.gather("begin", "");
      return "met";
    } catch (EnvironmentException e) {
      return e.problem().text();
    }
  }

  @Test
  void a_rank_that_dies_is_named_before_its_time_is_over() throws Exception {
    HostPort at = free();
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<String> first =
          threads.submit(
              () -> {
                try (JobMeeting meeting = JobMeeting.join(new JobRank(0, 2, "test", at), PATIENT)) {
                  meeting.gather("begin", "");
                  return String.join(",", meeting.gather("end", ""));
                } catch (EnvironmentException e) {
                  return e.problem().text();
                }
              });
      try (JobMeeting meeting = JobMeeting.join(new JobRank(1, 2, "test", at), PATIENT)) {
        meeting.gather("begin", "");
      }
      assertThat(first.get()).contains("rank 1 has left");
    }
  }

  @Test
  void a_launcher_that_tells_no_meeting_point_asks_for_one() {
    assertThatThrownBy(() -> JobMeeting.join(new JobRank(1, 2, "PMI", null), HASTY))
        .isInstanceOfSatisfying(
            EnvironmentException.class,
            e -> assertThat(e.problem().text()).contains("--rendezvous HOST:PORT"));
  }

  /** A port below those that the system gives away by itself: it is free a moment later, too. */
  private static HostPort free() throws IOException {
    for (int port = 12_000 + (int) (ProcessHandle.current().pid() % 500) * 16; ; port++) {
      try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return new HostPort("127.0.0.1", probe.getLocalPort());
      } catch (BindException _) {
        // Somebody has it.
      }
    }
  }
}
