package dev.doorbell.experiments.collective;

import dev.doorbell.experiments.collective.Schedule.Draft;
import dev.doorbell.experiments.collective.Schedule.Piece;
import dev.doorbell.experiments.collective.Schedule.Segments;
import java.util.ArrayList;
import java.util.List;

/** Each rank sends to the next one alone. */
final class Ring {
  private final Call call;
  private final Schedule.Builder in;
  private final int ranks;

  /** Ranks as they follow each other. */
  private final List<Integer> order;

  private Ring(Call call, Schedule.Builder in, int channel) {
    this.call = call;
    this.in = in;
    this.ranks = call.ranks();
    this.order = order(ranks, call.node(), channel);
  }

  /**
   * Returns the ring of a channel: it enters a node and leaves it at places that are another
   * channel's neighbours, so that channels use all HCAs; nodes are passed forth and back in turn,
   * so that messages between nodes stay in a rail.
   */
  private static List<Integer> order(int ranks, int node, int channel) {
    List<Integer> order = new ArrayList<>();
    for (int first = 0; first < ranks; first += node) {
      List<Integer> ofNode = new ArrayList<>();
      for (int place = 0; place < node; place++) {
        int rank = first + (place + channel) % node;
        if (rank < ranks) {
          ofNode.add(rank);
        }
      }
      boolean back = first / node % 2 == 1;
      order.addAll(back ? ofNode.reversed() : ofNode);
    }
    return order;
  }

  static void of(Call call, Schedule.Builder in, int channel) {
    Ring ring = new Ring(call, in, channel);
    switch (call.collective()) {
      case ALL_REDUCE -> ring.allReduce();
      case REDUCE_SCATTER -> ring.reduceScatter();
      case ALL_GATHER -> ring.allGather();
      case BROADCAST -> ring.broadcast();
      case REDUCE -> ring.reduce();
      default -> throw new IllegalArgumentException("no ring makes " + call.collective());
    }
  }

  private int next(int rank) {
    return order.get((order.indexOf(rank) + 1) % ranks);
  }

  /** Messages of the rank before, of the round before. */
  private List<Message> before(List<List<Message>> round, int at) {
    return round.get(Math.floorMod(at - 1, ranks));
  }

  /** Returns where the block of a rank begins that is {@code steps} behind a place. */
  private long behind(int at, int steps) {
    return call.blockAt(order.get(Math.floorMod(at - steps, ranks)));
  }

  private void allReduce() {
    Segments segments = new Segments(call.sendBytes(), ranks);
    List<List<Message>> round = new ArrayList<>();
    for (int at = 0; at < ranks; at++) {
      int rank = order.get(at);
      List<Message> sent = new ArrayList<>();
      for (Piece piece : in.pieces(segments.from(at), segments.to(at))) {
        sent.add(in.at(rank).send(next(rank), call.sendAt(rank) + piece.at(), piece.bytes()));
      }
      round.add(sent);
    }
    for (int step = 1; step < 2 * ranks - 1; step++) {
      List<List<Message>> following = new ArrayList<>();
      for (int at = 0; at < ranks; at++) {
        int rank = order.get(at);
        int segment = Math.floorMod(at - step, ranks);
        List<Message> sent = new ArrayList<>();
        int index = 0;
        for (Piece piece : in.pieces(segments.from(segment), segments.to(segment))) {
          Message message = before(round, at).get(index++);
          long result = call.receiveAt(rank) + piece.at();
          Draft draft =
              step < ranks
                  ? in.at(rank).reduce(message, call.sendAt(rank) + piece.at(), result)
                  : in.at(rank).receive(message);
          if (step == 2 * ranks - 2) {
            draft.end();
          } else if (step < ranks - 1) {
            sent.add(draft.send(next(rank), result, piece.bytes()));
          } else {
            long into = call.receiveAt(next(rank)) + piece.at();
            sent.add(draft.put(next(rank), result, into, piece.bytes()));
          }
        }
        following.add(sent);
      }
      round = following;
    }
  }

  private void reduceScatter() {
    long block = call.block();
    List<List<Message>> round = new ArrayList<>();
    for (int at = 0; at < ranks; at++) {
      int rank = order.get(at);
      List<Message> sent = new ArrayList<>();
      for (Piece piece : in.pieces(0, block)) {
        long from = call.sendAt(rank) + behind(at, 1) + piece.at();
        sent.add(in.at(rank).send(next(rank), from, piece.bytes()));
      }
      round.add(sent);
    }
    for (int step = 1; step < ranks; step++) {
      List<List<Message>> following = new ArrayList<>();
      for (int at = 0; at < ranks; at++) {
        int rank = order.get(at);
        long segment = behind(at, 1 + step);
        List<Message> sent = new ArrayList<>();
        int index = 0;
        for (Piece piece : in.pieces(0, block)) {
          Message message = before(round, at).get(index++);
          long own = call.sendAt(rank) + segment + piece.at();
          if (step == ranks - 1) {
            in.at(rank).reduce(message, own, call.receiveAt(rank) + piece.at()).end();
          } else {
            long sum = partial(rank, message);
            sent.add(in.at(rank).reduce(message, own, sum).send(next(rank), sum, piece.bytes()));
          }
        }
        following.add(sent);
      }
      round = following;
    }
  }

  /**
   * Returns where a rank keeps what it has reduced a message to: in its place, if it is not packed.
   */
  private long partial(int rank, Message message) {
    return message.packed() ? in.scratch(rank, message.bytes()) : message.offset();
  }

  private void allGather() {
    long block = call.block();
    List<List<Message>> round = new ArrayList<>();
    for (int rank : order) {
      List<Message> sent = new ArrayList<>();
      for (Piece piece : in.pieces(0, block)) {
        long into = call.receiveAt(next(rank)) + call.blockAt(rank) + piece.at();
        sent.add(in.at(rank).put(next(rank), call.sendAt(rank) + piece.at(), into, piece.bytes()));
      }
      Direct.keepOwn(call, in, rank, 0, call.blockAt(rank));
      round.add(sent);
    }
    for (int step = 1; step < ranks; step++) {
      List<List<Message>> following = new ArrayList<>();
      for (int at = 0; at < ranks; at++) {
        int rank = order.get(at);
        long from = behind(at, step);
        List<Message> sent = new ArrayList<>();
        int index = 0;
        for (Piece piece : in.pieces(0, block)) {
          Draft draft = in.at(rank).receive(before(round, at).get(index++));
          if (step == ranks - 1) {
            draft.end();
          } else {
            sent.add(
                draft.put(
                    next(rank),
                    call.receiveAt(rank) + from + piece.at(),
                    call.receiveAt(next(rank)) + from + piece.at(),
                    piece.bytes()));
          }
        }
        following.add(sent);
      }
      round = following;
    }
  }

  private void broadcast() {
    int root = call.root();
    for (Piece piece : in.pieces(0, call.sendBytes())) {
      Message message =
          in.at(root)
              .put(
                  next(root),
                  call.sendAt(root) + piece.at(),
                  call.receiveAt(next(root)) + piece.at(),
                  piece.bytes());
      for (int rank = next(root); rank != root; rank = next(rank)) {
        Draft draft = in.at(rank).receive(message);
        if (next(rank) == root) {
          draft.end();
        } else {
          message =
              draft.put(
                  next(rank),
                  call.receiveAt(rank) + piece.at(),
                  call.receiveAt(next(rank)) + piece.at(),
                  piece.bytes());
        }
      }
    }
    Direct.keepOwn(call, in, root, 0, 0);
  }

  private void reduce() {
    int root = call.root();
    for (Piece piece : in.pieces(0, call.sendBytes())) {
      int first = next(root);
      Message message =
          in.at(first).send(next(first), call.sendAt(first) + piece.at(), piece.bytes());
      for (int rank = next(first); rank != root; rank = next(rank)) {
        long sum = partial(rank, message);
        message =
            in.at(rank)
                .reduce(message, call.sendAt(rank) + piece.at(), sum)
                .send(next(rank), sum, piece.bytes());
      }
      in.at(root)
          .reduce(message, call.sendAt(root) + piece.at(), call.receiveAt(root) + piece.at())
          .end();
    }
  }
}
