package dev.doorbell.interop.job;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.LineChannel;
import dev.doorbell.interop.control.LineServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The server through which the processes of a job exchange values; the process of rank 0 polls it.
 * In a round each rank sends a value and receives those of all. A rank that does not send in time
 * is named to the others.
 */
public final class Rendezvous implements AutoCloseable {
  /** Largest number of ranks; a round's values are one line. */
  public static final int MAX_RANKS = 32;

  private static final int MAX_ROUNDS = 4;

  private final int size;
  private volatile long timeoutNanos;
  private final LineServer server;
  private final List<Member> members = new ArrayList<>();
  private final Map<String, Round> rounds = new HashMap<>();

  private static final class Member {
    final LineChannel channel;
    final List<Integer> ranks = new ArrayList<>();

    Member(LineChannel channel) {
      this.channel = channel;
    }
  }

  private static final class Round {
    final long since = System.nanoTime();
    final TreeMap<Integer, String> values = new TreeMap<>();
  }

  /**
   * Starts to listen.
   *
   * @param at port 0 takes any that is free
   * @param size ranks of the job
   * @param timeoutNanos from a round's first value to its last
   */
  public Rendezvous(HostPort at, int size, long timeoutNanos) throws EnvironmentException {
    if (size < 1 || size > MAX_RANKS) {
      throw new IllegalArgumentException("a job has 1 to %d ranks".formatted(MAX_RANKS));
    }
    this.size = size;
    this.timeoutNanos = timeoutNanos;
    this.server = LineServer.tcp(at);
  }

  /** Where it listens. */
  public HostPort place() {
    return (HostPort) server.place();
  }

  /** Sets the time from a round's first value to its last; from any thread. */
  public void setTimeout(long nanos) {
    timeoutNanos = nanos;
  }

  /** Whether every rank of the job is connected. */
  public boolean isWhole() {
    return members.stream().mapToInt(member -> member.ranks.size()).sum() == size;
  }

  /** Accepts connections, handles messages and fails rounds that are over time. */
  public void poll() {
    LineChannel accepted = server.accept();
    if (accepted != null) {
      if (members.size() < size) {
        members.add(new Member(accepted));
      } else {
        accepted.send(ControlLine.error("all %d ranks are connected".formatted(size)));
        accepted.close();
      }
    }
    for (int i = members.size() - 1; i >= 0; i--) {
      Member member = members.get(i);
      String line = member.channel.poll();
      while (line != null) {
        handle(member, line);
        line = member.channel.poll();
      }
      if (member.channel.ended() != null) {
        members.remove(i);
        onLost(member);
      }
    }
    for (Round round : List.copyOf(rounds.values())) {
      if (System.nanoTime() - round.since > timeoutNanos) {
        failAll("rank %s did not come within %.1f s".formatted(missing(round), timeoutNanos / 1e9));
        return;
      }
    }
  }

  private void handle(Member member, String text) {
    try {
      ControlLine line = ControlLine.parse(text);
      switch (line.verb()) {
        case "gather" -> gather(member, line);
        case "bye" -> {
          member.ranks.clear();
          member.channel.close();
        }
        default -> throw new ControlLine.Refused("unknown verb '%s'".formatted(line.verb()));
      }
    } catch (ControlLine.Refused e) {
      member.channel.send(ControlLine.error(e.getMessage() == null ? "" : e.getMessage()));
      member.channel.close();
    }
  }

  private void gather(Member member, ControlLine line) throws ControlLine.Refused {
    long jobSize = line.number("size", 1, MAX_RANKS);
    if (jobSize != size) {
      throw new ControlLine.Refused("this job has %d ranks, not %d".formatted(size, jobSize));
    }
    int rank = (int) line.number("rank", 0, size - 1);
    String name = line.word("round");
    for (Member other : members) {
      if (other != member && other.ranks.contains(rank)) {
        throw new ControlLine.Refused("rank %d is connected already".formatted(rank));
      }
    }
    if (!member.ranks.contains(rank)) {
      member.ranks.add(rank);
    }
    if (!rounds.containsKey(name) && rounds.size() >= MAX_ROUNDS) {
      throw new ControlLine.Refused("more than %d rounds at once".formatted(MAX_ROUNDS));
    }
    Round round = rounds.computeIfAbsent(name, _ -> new Round());
    if (round.values.put(rank, line.word("value")) != null) {
      throw new ControlLine.Refused("rank %d sent two values in round '%s'".formatted(rank, name));
    }
    if (round.values.size() == size) {
      rounds.remove(name);
      ControlLine all =
          ControlLine.of("gathered")
              .with("round", name)
              .with("values", String.join("\n", round.values.values()));
      members.forEach(each -> each.channel.send(all));
    }
  }

  private void onLost(Member member) {
    if (!member.ranks.isEmpty()) {
      failAll(
          "rank %s has left (%s)"
              .formatted(
                  member.ranks.stream().map(String::valueOf).collect(Collectors.joining(", ")),
                  member.channel.ended()));
    }
  }

  private String missing(Round round) {
    return IntStream.range(0, size)
        .filter(rank -> !round.values.containsKey(rank))
        .mapToObj(String::valueOf)
        .collect(Collectors.joining(", "));
  }

  private void failAll(@Nullable String why) {
    ControlLine line = ControlLine.error(why == null ? "closed" : why);
    members.forEach(member -> member.channel.send(line));
    rounds.clear();
  }

  @Override
  public void close() {
    members.forEach(member -> member.channel.close());
    server.close();
  }
}
