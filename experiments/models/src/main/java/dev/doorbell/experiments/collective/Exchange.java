package dev.doorbell.experiments.collective;

import java.util.ArrayList;
import java.util.List;

/**
 * Rounds in which each rank sends to each other one of a group, beginning with the one behind, and
 * what ranks do with what they have received.
 */
final class Exchange {
  private final int ranks;
  private final Schedule.Builder in;

  Exchange(int ranks, Schedule.Builder in) {
    this.ranks = ranks;
    this.in = in;
  }

  /** Sends what one rank has for another one, which receives these messages; or sends nothing. */
  interface Sending {
    void send(int from, int to, List<Message> received);
  }

  /** The rank that is {@code distance} behind {@code rank} in its group. */
  interface Group {
    int behind(int rank, int distance);
  }

  /** Returns what each rank gets, by rank; of the rank before it in the group comes first. */
  List<List<Message>> among(int members, Group group, Sending sending) {
    List<List<Message>> received = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      received.add(new ArrayList<>());
    }
    for (int distance = 1; distance < members; distance++) {
      for (int from = 0; from < ranks; from++) {
        int to = group.behind(from, distance);
        sending.send(from, to, received.get(to));
      }
    }
    return received;
  }

  /** Each rank waits for what it gets. */
  void receive(List<List<Message>> received) {
    for (int rank = 0; rank < ranks; rank++) {
      receive(rank, received.get(rank));
    }
  }

  /** A rank waits for messages. */
  void receive(int rank, List<Message> messages) {
    for (Message message : messages) {
      in.at(rank).receive(message).end();
    }
  }

  /** Reduces messages one after the other with what lies at {@code with}. */
  void reduce(int rank, List<Message> messages, long with, long into) {
    long first = with;
    for (Message message : messages) {
      in.at(rank).reduce(message, first, into).end();
      first = into;
    }
  }
}
