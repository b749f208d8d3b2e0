package dev.doorbell.experiments.remote;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which process of a job this is, as its launcher tells by environment variables: Open MPI's {@code
 * mpirun}, Slurm's {@code srun}, launchers that speak PMI, and {@code torchrun} and its like.
 *
 * @param rank from 0
 * @param size processes of the job
 * @param launcher who says so
 * @param meeting where rank 0 is to be met; null where the environment does not tell
 */
public record JobRank(int rank, int size, String launcher, @Nullable Endpoint meeting) {
  /** Names the meeting point where nothing else does. */
  public static final String RENDEZVOUS = "DOORBELL_RENDEZVOUS";

  /** Beside what listens on the launcher's own port. */
  private static final int TORCH_OFFSET = 1;

  private static final int FIRST_PORT = 20_000;
  private static final int PORTS = 12_000;

  /** {@code node[07-10,12],other} and {@code node7,node8}. */
  private static final Pattern FIRST_NODE = Pattern.compile("([^,\\[]+)(?:\\[(\\d+)[^]]*])?.*");

  public JobRank {
    if (size < 1 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException("rank %d of %d".formatted(rank, size));
    }
  }

  /**
   * Looks for a launcher's variables; nothing where there are none, or the job is this process
   * alone.
   *
   * @throws EnvironmentException when they are there and make no sense
   */
  public static Optional<JobRank> of(Map<String, String> environment) throws EnvironmentException {
    Variables variables = new Variables(environment);
    JobRank found = null;
    if (variables.has("OMPI_COMM_WORLD_RANK")) {
      boolean oneMachine =
          variables
              .text("OMPI_COMM_WORLD_LOCAL_SIZE")
              .equals(variables.text("OMPI_COMM_WORLD_SIZE"));
      String job = variables.text("PMIX_NAMESPACE") + variables.text("OMPI_MCA_ess_base_jobid");
      found =
          variables.rank(
              "OMPI_COMM_WORLD_RANK",
              "OMPI_COMM_WORLD_SIZE",
              "mpirun",
              oneMachine && !job.isEmpty() ? new Endpoint("127.0.0.1", port(job)) : null);
    } else if (variables.has("SLURM_PROCID") && variables.has("SLURM_NTASKS")) {
      String nodes = variables.text("SLURM_STEP_NODELIST");
      String host = firstNode(nodes.isEmpty() ? variables.text("SLURM_NODELIST") : nodes);
      String job = variables.text("SLURM_JOB_ID") + "." + variables.text("SLURM_STEP_ID");
      found =
          variables.rank(
              "SLURM_PROCID",
              "SLURM_NTASKS",
              "srun",
              host.isEmpty() ? null : new Endpoint(host, port(job)));
    } else if (variables.has("PMI_RANK")) {
      found = variables.rank("PMI_RANK", "PMI_SIZE", "PMI", null);
    } else if (variables.has("RANK") && variables.has("WORLD_SIZE")) {
      String host = variables.text("MASTER_ADDR");
      found =
          variables.rank(
              "RANK",
              "WORLD_SIZE",
              "torchrun",
              host.isEmpty()
                  ? null
                  : new Endpoint(
                      host, variables.number("MASTER_PORT", 1, 0xffff - 1) + TORCH_OFFSET));
    }
    if (found == null || found.size == 1) {
      return Optional.empty();
    }
    String named = variables.text(RENDEZVOUS);
    return Optional.of(named.isEmpty() ? found : found.meetingAt(named));
  }

  /** The same with a meeting point that the user names. */
  public JobRank meetingAt(String endpoint) throws EnvironmentException {
    try {
      return new JobRank(rank, size, launcher, Endpoint.parse(endpoint));
    } catch (IllegalArgumentException e) {
      throw new EnvironmentException(
          Problem.of("DB-E050", "rendezvous", String.valueOf(e.getMessage())));
    }
  }

  /** One port for all processes of a job, and probably another for another job. */
  private static int port(String job) {
    return FIRST_PORT + Math.floorMod(job.hashCode(), PORTS);
  }

  static String firstNode(String list) {
    Matcher first = FIRST_NODE.matcher(list);
    return first.matches() ? first.group(1) + (first.group(2) == null ? "" : first.group(2)) : "";
  }

  private record Variables(Map<String, String> values) {
    boolean has(String name) {
      return !text(name).isEmpty();
    }

    String text(String name) {
      return values.getOrDefault(name, "");
    }

    JobRank rank(String rank, String size, String launcher, @Nullable Endpoint meeting)
        throws EnvironmentException {
      int ranks = number(size, 1, Integer.MAX_VALUE);
      return new JobRank(number(rank, 0, ranks - 1), ranks, launcher, meeting);
    }

    int number(String name, int least, int most) throws EnvironmentException {
      try {
        int value = Integer.parseInt(text(name));
        if (value >= least && value <= most) {
          return value;
        }
      } catch (NumberFormatException _) {
        // Said below, as for one out of range.
      }
      throw new EnvironmentException(
          Problem.of(
                  "DB-E050",
                  name,
                  "'%s' is not a whole number from %d to %d".formatted(text(name), least, most))
              .effect("this process does not know which one of the job it is")
              .fix("start it with the launcher, or unset its variables to run alone"));
    }
  }
}
