package dev.doorbell.experiments.collective;

import dev.doorbell.experiments.collective.Schedule.Segments;
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
  private final Exchange exchange;

  private Hierarchical(Call call, Schedule.Builder in) {
    this.call = call;
    this.in = in;
    this.node = call.node();
    this.nodes = call.ranks() / call.node();
    this.exchange = new Exchange(call.ranks(), in);
  }

  static void of(Call call, Schedule.Builder in) {
    Hierarchical hierarchical = new Hierarchical(call, in);
    switch (call.collective()) {
      case ALL_REDUCE -> hierarchical.allReduce();
      case REDUCE_SCATTER -> hierarchical.reduceScatter();
      case ALL_GATHER -> hierarchical.allGather();
      case BROADCAST -> hierarchical.broadcast();
      case REDUCE -> hierarchical.reduce();
      case ALL_TO_ALL -> hierarchical.allToAll();
      default -> throw new IllegalArgumentException("no hierarchy makes " + call.collective());
    }
  }

  private int rank(int ofNode, int place) {
    return ofNode * node + place;
  }

  private List<List<Message>> inside(Exchange.Sending sending) {
    return exchange.among(
        node, (rank, distance) -> rank(rank / node, (rank % node + distance) % node), sending);
  }

  private List<List<Message>> across(Exchange.Sending sending) {
    return exchange.among(
        nodes, (rank, distance) -> rank((rank / node + distance) % nodes, rank % node), sending);
  }

  /**
   * The part of a place is reduced inside of the node, then in its rail, where each node has a
   * share of it; the shares go round in the rail, and the parts in the node.
   */
  private void allReduce() {
    Segments parts = new Segments(call.sendBytes(), node);
    List<List<Message>> received = partsInside(parts);
    for (int rank = 0; rank < call.ranks(); rank++) {
      long at = parts.from(rank % node);
      exchange.reduce(rank, received.get(rank), call.sendAt(rank) + at, call.receiveAt(rank) + at);
    }
    List<List<Message>> shares =
        across(
            (from, to, messages) -> {
              long bytes = shareBytes(parts, to);
              if (bytes > 0) {
                long at = call.receiveAt(from) + share(parts, to);
                messages.add(in.at(from).send(to, at, bytes));
              }
            });
    for (int rank = 0; rank < call.ranks(); rank++) {
      long at = call.receiveAt(rank) + share(parts, rank);
      exchange.reduce(rank, shares.get(rank), at, at);
    }
    exchange.receive(
        across(
            (from, to, messages) ->
                copy(from, to, share(parts, from), shareBytes(parts, from), messages)));
    exchange.receive(
        inside(
            (from, to, messages) ->
                copy(from, to, parts.from(from % node), parts.bytes(from % node), messages)));
  }

  /** Each rank gives each other one of its node that rank's part of its contribution. */
  private List<List<Message>> partsInside(Segments parts) {
    return inside(
        (from, to, messages) -> {
          int part = to % node;
          if (parts.bytes(part) > 0) {
            long at = call.sendAt(from) + parts.from(part);
            messages.add(in.at(from).send(to, at, parts.bytes(part)));
          }
        });
  }

  /** Where a rank's share of its rail's part begins. */
  private long share(Segments parts, int rank) {
    int part = rank % node;
    return parts.from(part) + new Segments(parts.bytes(part), nodes).from(rank / node);
  }

  private long shareBytes(Segments parts, int rank) {
    return new Segments(parts.bytes(rank % node), nodes).bytes(rank / node);
  }

  /**
   * The part of a place is reduced inside of each node, then in the root's node, whose ranks store
   * their parts at the root.
   */
  private void reduce() {
    int root = call.root();
    Segments parts = new Segments(call.sendBytes(), node);
    List<List<Message>> received = partsInside(parts);
    long[] sums = new long[call.ranks()];
    for (int rank = 0; rank < call.ranks(); rank++) {
      long at = parts.from(rank % node);
      sums[rank] =
          rank == root ? call.receiveAt(rank) + at : in.scratch(rank, parts.bytes(rank % node));
      exchange.reduce(rank, received.get(rank), call.sendAt(rank) + at, sums[rank]);
    }
    List<List<Message>> ofNodes =
        across(
            (from, to, messages) -> {
              long bytes = parts.bytes(from % node);
              if (to / node == root / node && bytes > 0) {
                messages.add(in.at(from).send(to, sums[from], bytes));
              }
            });
    for (int place = 0; place < node; place++) {
      int rank = rank(root / node, place);
      exchange.reduce(rank, ofNodes.get(rank), sums[rank], sums[rank]);
    }
    exchange.receive(
        inside(
            (from, to, messages) -> {
              long bytes = parts.bytes(from % node);
              if (to == root && bytes > 0) {
                long into = call.receiveAt(root) + parts.from(from % node);
                messages.add(in.at(from).put(root, sums[from], into, bytes));
              }
            }));
  }

  /**
   * A rank gives what is for a place in other nodes to the rank of that place in its own node,
   * which puts what a whole node has for one rank at once, along its rail.
   */
  private void allToAll() {
    long block = call.block();
    long[] gathered = new long[call.ranks()];
    for (int rank = 0; rank < call.ranks(); rank++) {
      gathered[rank] = in.scratch(rank, (long) nodes * node * block);
      Direct.keepOwn(call, in, rank, rank * block, rank * block);
      for (int each = 0; each < nodes; each++) {
        if (each != rank / node && block > 0) {
          long from = call.sendAt(rank) + rank(each, rank % node) * block;
          in.at(rank).copy(from, gathered[rank] + rank(each, rank % node) * block, block).end();
        }
      }
    }
    exchange.receive(
        inside(
            (from, to, messages) -> {
              for (int each = 0; each < nodes; each++) {
                long at = call.sendAt(from) + rank(each, to % node) * block;
                long into =
                    each == to / node
                        ? call.receiveAt(to) + from * block
                        : gathered[to] + rank(each, from % node) * block;
                messages.add(in.at(from).put(to, at, into, block));
              }
            }));
    exchange.receive(
        across(
            (from, to, messages) ->
                messages.add(
                    in.at(from)
                        .put(
                            to,
                            gathered[from] + (long) rank(to / node, 0) * block,
                            call.receiveAt(to) + (long) rank(from / node, 0) * block,
                            node * block))));
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
                long at = call.sendAt(from) + call.blockAt(rank(each, to % node));
                messages.add(in.at(from).send(to, at, block));
              }
            });
    long[] sums = new long[call.ranks()];
    for (int rank = 0; rank < call.ranks(); rank++) {
      sums[rank] = in.scratch(rank, nodes * block);
      for (int each = 0; each < nodes; each++) {
        long with = call.sendAt(rank) + call.blockAt(rank(each, rank % node));
        List<Message> ofBlock = new ArrayList<>();
        for (int at = each; at < received.get(rank).size(); at += nodes) {
          ofBlock.add(received.get(rank).get(at));
        }
        exchange.reduce(rank, ofBlock, with, sums[rank] + each * block);
      }
    }
    List<List<Message>> shares =
        across(
            (from, to, messages) ->
                messages.add(in.at(from).send(to, sums[from] + to / node * block, block)));
    for (int rank = 0; rank < call.ranks(); rank++) {
      exchange.reduce(
          rank, shares.get(rank), sums[rank] + rank / node * block, call.receiveAt(rank));
    }
  }

  /** A rank's block goes round in its rail; the blocks of a rail go round in the node. */
  private void allGather() {
    long block = call.block();
    for (int rank = 0; rank < call.ranks(); rank++) {
      Direct.keepOwn(call, in, rank, 0, call.blockAt(rank));
    }
    List<List<Message>> ofRail =
        across(
            (from, to, messages) ->
                messages.add(
                    in.at(from)
                        .put(
                            to,
                            call.sendAt(from),
                            call.receiveAt(to) + call.blockAt(from),
                            block)));
    exchange.receive(ofRail);
    exchange.receive(
        inside(
            (from, to, messages) -> {
              for (int each = 0; each < nodes; each++) {
                copy(from, to, call.blockAt(rank(each, from % node)), block, messages);
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
    exchange.receive(
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
