package dev.doorbell.interop.job;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.control.HostPort;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rank of this process in a job, from the environment variables of its launcher: Open MPI's
 * {@code mpirun}, Slurm's {@code srun}, launchers with PMI, and {@code torchrun}.
 *
 * @param rank from 0
 * @param size processes of the job
 * @param launcher that set the variables
 * @param meeting the address of rank 0; null where the environment does not contain it
 */
public record JobRank(int rank, int size, String launcher, @Nullable HostPort meeting) {
  /** The variable with the address of rank 0 for launchers that set none. */
  public static final String RENDEZVOUS = "DOORBELL_RENDEZVOUS";

  /** Added to the launcher's port, which is in use. */
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
   * Reads a launcher's variables; empty where there are none, or the job has one process.
   *
   * @throws EnvironmentException when their values are illegal
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
              oneMachine && !job.isEmpty() ? new HostPort("127.0.0.1", port(job)) : null);
    } else if (variables.has("SLURM_PROCID") && variables.has("SLURM_NTASKS")) {
      String nodes = variables.text("SLURM_STEP_NODELIST");
      String host = firstNode(nodes.isEmpty() ? variables.text("SLURM_NODELIST") : nodes);
      String job = variables.text("SLURM_JOB_ID") + "." + variables.text("SLURM_STEP_ID");
      found =
          variables.rank(
              "SLURM_PROCID",
              "SLURM_NTASKS",
              "srun",
              host.isEmpty() ? null : new HostPort(host, port(job)));
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
                  : new HostPort(
                      host, variables.number("MASTER_PORT", 1, 0xffff - 1) + TORCH_OFFSET));
    }
    if (found == null || found.size == 1) {
      return Optional.empty();
    }
    String named = variables.text(RENDEZVOUS);
    return Optional.of(named.isEmpty() ? found : found.meetingAt(named));
  }

  /** This rank with an address of rank 0 that the user gives. */
  public JobRank meetingAt(String endpoint) throws EnvironmentException {
    try {
      return new JobRank(rank, size, launcher, HostPort.parse(endpoint));
    } catch (IllegalArgumentException e) {
      throw new EnvironmentException(
          Problem.of("DB-E050", "rendezvous", String.valueOf(e.getMessage())));
    }
  }

  /** The same port for all processes of a job, and probably a different one for another job. */
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

    JobRank rank(String rank, String size, String launcher, @Nullable HostPort meeting)
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
        // Reported below, as a number out of range is.
      }
      throw new EnvironmentException(
          Problem.of(
                  "DB-E050",
                  name,
                  "'%s' is not a whole number from %d to %d".formatted(text(name), least, most))
              .effect("the rank of this process is unknown")
              .fix("start it with the launcher, or unset its variables to run alone"));
    }
  }
}
