package dev.doorbell.experiments.collective;

import java.util.ArrayList;
import java.util.List;

/**
 * In two levels: ranks of a node share the work by stores, each for the part of its place; ranks of
 * the same place in different nodes, a rail, exchange that part by their HCAs.
 */
final class Hierarchical {
  private final Call call;
  private final Schedule.Builder in;
  private final int node;
  private final int nodes;

  private Hierarchical(Call call, Schedule.Builder in) {
    this.call = call;
    this.in = in;
    this.node = call.node();
    this.nodes = call.ranks() / call.node();
  }

  static void of(Call call, Schedule.Builder in) {
    Hierarchical hierarchical = new Hierarchical(call, in);
    switch (call.collective()) {
      case ALL_REDUCE -> hierarchical.allReduce();
      case REDUCE_SCATTER -> hierarchical.reduceScatter();
      case ALL_GATHER -> hierarchical.allGather();
      case BROADCAST -> hierarchical.broadcast();
      default -> throw new IllegalArgumentException("no hierarchy makes " + call.collective());
    }
  }

  /** What a rank does about another one. */
  private interface Sending {
    /** Sends what is to be sent, or does nothing. */
    void send(int from, int to, List<Message> received);
  }

  private int rank(int ofNode, int place) {
    return ofNode * node + place;
  }

  /** What each rank gets of the others of its node, by rank. */
  private List<List<Message>> inside(Sending sending) {
    List<List<Message>> received = empty();
    for (int distance = 1; distance < node; distance++) {
      for (int from = 0; from < call.ranks(); from++) {
        int to = rank(from / node, (from % node + distance) % node);
        sending.send(from, to, received.get(to));
      }
    }
    return received;
  }

  /** What each rank gets of the others of its rail, by rank. */
  private List<List<Message>> across(Sending sending) {
    List<List<Message>> received = empty();
    for (int distance = 1; distance < nodes; distance++) {
      for (int from = 0; from < call.ranks(); from++) {
        int to = rank((from / node + distance) % nodes, from % node);
        sending.send(from, to, received.get(to));
      }
    }
    return received;
  }

  private List<List<Message>> empty() {
    List<List<Message>> received = new ArrayList<>();
    for (int rank = 0; rank < call.ranks(); rank++) {
      received.add(new ArrayList<>());
    }
    return received;
  }

  private void receive(List<List<Message>> received) {
    for (int rank = 0; rank < call.ranks(); rank++) {
      for (Message message : received.get(rank)) {
        in.at(rank).receive(message).end();
      }
    }
  }

  /** Reduces messages one after the other with what lies at {@code with}. */
  private void reduceAll(int rank, List<Message> messages, long with, long into) {
    long first = with;
    for (Message message : messages) {
      in.at(rank).reduce(message, first, into).end();
      first = into;
    }
  }

  /**
   * The part of a place is reduced inside of the node, then in its rail, where each node has a
   * share of it; the shares go round in the rail, and the parts in the node.
   */
  private void allReduce() {
    Segments parts = new Segments(call.sendBytes(), node);
    List<List<Message>> received =
        inside(
            (from, to, messages) -> {
              int part = to % node;
              if (parts.bytes(part) > 0) {
                long at = call.sendAt(from) + parts.from(part);
                messages.add(in.at(from).send(to, at, parts.bytes(part)));
              }
            });
    for (int rank = 0; rank < call.ranks(); rank++) {
      long at = parts.from(rank % node);
      reduceAll(rank, received.get(rank), call.sendAt(rank) + at, call.receiveAt(rank) + at);
    }
    List<List<Message>> shares =
        across(
            (from, to, messages) -> {
              long at = share(parts, to);
              long bytes = shareBytes(parts, to);
              if (bytes > 0) {
                messages.add(in.at(from).send(to, call.receiveAt(from) + at, bytes));
              }
            });
    for (int rank = 0; rank < call.ranks(); rank++) {
      long at = call.receiveAt(rank) + share(parts, rank);
      reduceAll(rank, shares.get(rank), at, at);
    }
    receive(
        across(
            (from, to, messages) ->
                copy(from, to, share(parts, from), shareBytes(parts, from), messages)));
    receive(
        inside(
            (from, to, messages) ->
                copy(from, to, parts.from(from % node), parts.bytes(from % node), messages)));
  }

  /** Where a rank's share of its place's part begins. */
  private long share(Segments parts, int rank) {
    int place = rank % node;
    return parts.from(place) + new Segments(parts.bytes(place), nodes).from(rank / node);
  }

  private long shareBytes(Segments parts, int rank) {
    return new Segments(parts.bytes(rank % node), nodes).bytes(rank / node);
  }

  /** From one receive buffer to the same place of another one. */
  private void copy(int from, int to, long at, long bytes, List<Message> messages) {
    if (bytes > 0) {
      messages.add(in.at(from).put(to, call.receiveAt(from) + at, call.receiveAt(to) + at, bytes));
    }
  }

  /** Blocks of a place, one for each node, are reduced inside of a node, then in their rail. */
  private void reduceScatter() {
    long block = call.block();
    List<List<Message>> received =
        inside(
            (from, to, messages) -> {
              for (int each = 0; each < nodes; each++) {
                long at = call.sendAt(from) + rank(each, to % node) * block;
                messages.add(in.at(from).send(to, at, block));
              }
            });
    long[] sums = new long[call.ranks()];
    for (int rank = 0; rank < call.ranks(); rank++) {
      sums[rank] = in.scratch(rank, nodes * block);
      for (int each = 0; each < nodes; each++) {
        long with = call.sendAt(rank) + rank(each, rank % node) * block;
        List<Message> ofBlock = new ArrayList<>();
        for (int at = each; at < received.get(rank).size(); at += nodes) {
          ofBlock.add(received.get(rank).get(at));
        }
        reduceAll(rank, ofBlock, with, sums[rank] + each * block);
      }
    }
    List<List<Message>> shares =
        across(
            (from, to, messages) ->
                messages.add(in.at(from).send(to, sums[from] + to / node * block, block)));
    for (int rank = 0; rank < call.ranks(); rank++) {
      reduceAll(rank, shares.get(rank), sums[rank] + rank / node * block, call.receiveAt(rank));
    }
  }

  /** A rank's block goes round in its rail; the blocks of a rail go round in the node. */
  private void allGather() {
    long block = call.block();
    for (int rank = 0; rank < call.ranks(); rank++) {
      Direct.keepOwn(call, in, rank, 0, rank * block);
    }
    List<List<Message>> ofRail =
        across(
            (from, to, messages) ->
                messages.add(
                    in.at(from)
                        .put(to, call.sendAt(from), call.receiveAt(to) + from * block, block)));
    receive(ofRail);
    receive(
        inside(
            (from, to, messages) -> {
              for (int each = 0; each < nodes; each++) {
                copy(from, to, rank(each, from % node) * block, block, messages);
              }
            }));
  }

  /** The root gives each place of its node a part, which goes along its rail, then in the nodes. */
  private void broadcast() {
    int root = call.root();
    Segments parts = new Segments(call.sendBytes(), node);
    Direct.keepOwn(call, in, root, 0, 0);
    for (int place = 0; place < node; place++) {
      int first = rank(root / node, place);
      long at = parts.from(place);
      long bytes = parts.bytes(place);
      if (bytes == 0) {
        continue;
      }
      if (first != root) {
        Message message =
            in.at(root).put(first, call.sendAt(root) + at, call.receiveAt(first) + at, bytes);
        in.at(first).receive(message).end();
      }
      long from = first == root ? call.sendAt(root) : call.receiveAt(first);
      for (int distance = 1; distance < nodes; distance++) {
        int to = rank((root / node + distance) % nodes, place);
        Message message = in.at(first).put(to, from + at, call.receiveAt(to) + at, bytes);
        in.at(to).receive(message).end();
      }
    }
    receive(
        inside(
            (from, to, messages) -> {
              if (to != root) {
                long own = from == root ? call.sendAt(root) : call.receiveAt(from);
                long at = parts.from(from % node);
                long bytes = parts.bytes(from % node);
                if (bytes > 0) {
                  messages.add(in.at(from).put(to, own + at, call.receiveAt(to) + at, bytes));
                }
              }
            }));
  }
}
