package dev.doorbell.experiments.chakra;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.collective.Collective;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/**
 * A distributed program: the nodes of each rank, and their order.
 *
 * @param ranks nodes of each rank, by id
 * @param operations what several nodes do together, one of each rank that takes part
 */
public record ExecutionTrace(List<List<Node>> ranks, List<Operation> operations) {
  public static final String CODE = "DB-P038";

  /** {@link Node#operation} of a node that no other rank takes part in. */
  public static final int ALONE = -1;

  /** Parts of a rank that do one node after the other. */
  public enum Unit {
    CPU,
    COMPUTE,
    COMMUNICATION,
    /** No part: receives wait beside everything else, and metadata takes no time. */
    NONE
  }

  /**
   * One node of a rank.
   *
   * @param micros its duration when it was recorded, or 0
   * @param ops operations on numbers, or 0
   * @param bytes of its tensors, or 0
   * @param after indices of the nodes that have to be done before it
   * @param operation index of what it takes part in, or {@link #ALONE}
   */
  @SuppressWarnings("ArrayRecordComponent") // a million of them, never compared
  public record Node(
      long id, Unit unit, long micros, long ops, long bytes, int[] after, int operation) {}

  /**
   * A collective, or a message: a broadcast among two.
   *
   * @param members ranks, the root first
   * @param size bytes of the larger buffer
   */
  public record Operation(Collective collective, List<Integer> members, long size) {}

  /** Opens the file of a rank. */
  public interface Files {
    InputStream open(int rank) throws IOException;
  }

  /**
   * Reads a trace.
   *
   * @param at path of the files without {@code .RANK.et}, as ASTRA-sim takes it, or of a folder
   *     with one trace
   * @throws ConfigException naming file and node where they are wrong, or cannot be executed
   */
  public static ExecutionTrace read(Path at) throws ConfigException {
    return TraceReader.read(at);
  }

  /**
   * Reads a trace from anywhere.
   *
   * @param name of the files, for messages
   * @param groups JSON with the ranks of each group by its name, or empty
   */
  public static ExecutionTrace read(String name, int ranks, String groups, Files files)
      throws ConfigException {
    return new TraceReader(name, ranks).read(groups, files);
  }

  /** Returns, for each of a rank's nodes, the indices of those that wait for it. */
  public static int[][] waiting(List<Node> nodes) {
    int[][] waiting = new int[nodes.size()][];
    int[] count = new int[waiting.length];
    nodes.forEach(node -> count(node.after(), count));
    for (int i = 0; i < waiting.length; i++) {
      waiting[i] = new int[count[i]];
    }
    for (int i = 0; i < waiting.length; i++) {
      for (int before : nodes.get(i).after()) {
        waiting[before][--count[before]] = i;
      }
    }
    return waiting;
  }

  private static void count(int[] indices, int[] count) {
    for (int index : indices) {
      count[index]++;
    }
  }
}
