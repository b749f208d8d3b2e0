package dev.doorbell.experiments.collective;

import dev.doorbell.experiments.collective.Schedule.Segments;
import java.util.ArrayList;
import java.util.List;

/** Everybody sends to everybody, beginning with the rank behind. */
final class Direct {
  private final Call call;
  private final Schedule.Builder in;
  private final int ranks;
  private final Exchange exchange;

  private Direct(Call call, Schedule.Builder in) {
    this.call = call;
    this.in = in;
    this.ranks = call.ranks();
    this.exchange = new Exchange(ranks, in);
  }

  static void of(Call call, Schedule.Builder in) {
    Direct direct = new Direct(call, in);
    switch (call.collective()) {
      case ALL_REDUCE -> {
        if (in.packs(call.sendBytes())) {
          direct.allReduceAtOnce();
        } else {
          direct.allReduce();
        }
      }
      case REDUCE_SCATTER -> direct.reduceScatter();
      case ALL_GATHER -> direct.allGather();
      case BROADCAST -> direct.broadcast();
      case REDUCE -> direct.reduce();
      case ALL_TO_ALL, ALL_TO_ALL_V -> direct.exchange();
      case BARRIER -> direct.barrier();
    }
  }

  /** A rank's own contribution to its result, which no message brings. */
  static void keepOwn(Call call, Schedule.Builder in, int rank, long from, long into) {
    long length = call.collective().exchanges() ? call.block() : call.sendBytes();
    if (!call.inPlace() && length > 0) {
      in.at(rank).copy(call.sendAt(rank) + from, call.receiveAt(rank) + into, length).end();
    }
  }

  /** A message from one rank to another one. */
  private interface Sending {
    Message send(int from, int to);
  }

  /**
   * Returns what each rank gets of each other one, by receiver; those of the rank before come
   * first.
   */
  private List<List<Message>> everybody(Sending sending) {
    return exchange.among(
        ranks,
        (rank, distance) -> (rank + distance) % ranks,
        (from, to, received) -> received.add(sending.send(from, to)));
  }

  private void allReduceAtOnce() {
    List<List<Message>> received =
        everybody((from, to) -> in.at(from).send(to, call.sendAt(from), call.sendBytes()));
    for (int rank = 0; rank < ranks; rank++) {
      exchange.reduce(rank, received.get(rank), call.sendAt(rank), call.receiveAt(rank));
    }
  }

  private void allReduce() {
    Segments segments = new Segments(call.sendBytes(), ranks);
    List<List<Message>> received =
        everybody(
            (from, to) ->
                in.at(from).send(to, call.sendAt(from) + segments.from(to), segments.bytes(to)));
    for (int rank = 0; rank < ranks; rank++) {
      long at = segments.from(rank);
      exchange.reduce(rank, received.get(rank), call.sendAt(rank) + at, call.receiveAt(rank) + at);
    }
    exchange.receive(
        everybody(
            (from, to) -> {
              long at = segments.from(from);
              return in.at(from)
                  .put(
                      to, call.receiveAt(from) + at, call.receiveAt(to) + at, segments.bytes(from));
            }));
  }

  private void reduceScatter() {
    long block = call.block();
    List<List<Message>> received =
        everybody((from, to) -> in.at(from).send(to, call.sendAt(from) + call.blockAt(to), block));
    for (int rank = 0; rank < ranks; rank++) {
      exchange.reduce(
          rank, received.get(rank), call.sendAt(rank) + call.blockAt(rank), call.receiveAt(rank));
    }
  }

  private void allGather() {
    long block = call.block();
    List<List<Message>> received =
        everybody(
            (from, to) ->
                in.at(from)
                    .put(to, call.sendAt(from), call.receiveAt(to) + call.blockAt(from), block));
    for (int rank = 0; rank < ranks; rank++) {
      keepOwn(call, in, rank, 0, call.blockAt(rank));
    }
    exchange.receive(received);
  }

  private void broadcast() {
    int root = call.root();
    for (int distance = 1; distance < ranks; distance++) {
      int to = (root + distance) % ranks;
      Message message =
          in.at(root).put(to, call.sendAt(root), call.receiveAt(to), call.sendBytes());
      in.at(to).receive(message).end();
    }
    keepOwn(call, in, root, 0, 0);
  }

  private void reduce() {
    int root = call.root();
    List<Message> messages = new ArrayList<>();
    for (int distance = 1; distance < ranks; distance++) {
      int from = (root + distance) % ranks;
      messages.add(in.at(from).send(root, call.sendAt(from), call.sendBytes()));
    }
    exchange.reduce(root, messages, call.sendAt(root), call.receiveAt(root));
  }

  private void exchange() {
    List<List<Message>> received =
        everybody(
            (from, to) ->
                in.at(from)
                    .put(
                        to,
                        call.sendAt(from) + call.blockAt(to),
                        call.receiveAt(to) + call.blockAt(from),
                        call.exchanged(from, to)));
    for (int rank = 0; rank < ranks; rank++) {
      keepOwn(call, in, rank, call.blockAt(rank), call.blockAt(rank));
    }
    exchange.receive(received);
  }

  private void barrier() {
    exchange.receive(everybody((from, to) -> in.at(from).put(to, 0, 0, 0)));
  }
}
