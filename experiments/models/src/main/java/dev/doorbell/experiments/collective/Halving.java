package dev.doorbell.experiments.collective;

import dev.doorbell.experiments.collective.Schedule.Segments;
import java.util.ArrayList;
import java.util.List;

/**
 * Recursive halving and doubling (Thakur, Rabenseifner and Gropp, Optimization of collective
 * communication operations in MPICH). Small all-reduces exchange everything in every round.
 */
final class Halving {
  private final Call call;
  private final Schedule.Builder in;

  /** Ranks that take part in the exchanges, a power of two of them. */
  private final List<Integer> members = new ArrayList<>();

  /** Address at each rank of what it has reduced so far. */
  private final long[] partial;

  private Halving(Call call, Schedule.Builder in) {
    this.call = call;
    this.in = in;
    this.partial = new long[call.ranks()];
  }

  static void of(Call call, Schedule.Builder in) {
    Halving halving = new Halving(call, in);
    switch (call.collective()) {
      case ALL_REDUCE -> halving.allReduce();
      case REDUCE_SCATTER -> halving.reduceScatter();
      case ALL_GATHER -> halving.allGather();
      case BARRIER -> Algorithm.dissemination(in);
      default -> throw new IllegalArgumentException("no halving makes " + call.collective());
    }
  }

  /** Two messages that two ranks send each other. */
  private record Exchange(Message toFirst, Message toSecond) {}

  private void allReduce() {
    int ranks = call.ranks();
    long bytes = call.sendBytes();
    int power = Integer.highestOneBit(ranks);
    int rest = ranks - power;
    for (int rank = 0; rank < ranks; rank++) {
      partial[rank] = call.sendAt(rank);
    }
    // Of the first 2 * rest ranks, the even ones let the odd ones reduce for them.
    for (int rank = 0; rank < 2 * rest; rank += 2) {
      Message message = in.at(rank).send(rank + 1, call.sendAt(rank), bytes);
      long sum = in.scratch(rank + 1, bytes);
      in.at(rank + 1).reduce(message, partial[rank + 1], sum).end();
      partial[rank + 1] = sum;
      members.add(rank + 1);
    }
    for (int rank = 2 * rest; rank < ranks; rank++) {
      members.add(rank);
    }
    if (in.packs(bytes)) {
      exchangeAll(bytes);
    } else {
      halve(new Segments(bytes, power), 0, power);
      twice(new Segments(bytes, power), 1);
    }
    for (int rank = 0; rank < 2 * rest; rank += 2) {
      Message message =
          in.at(rank + 1).put(rank, call.receiveAt(rank + 1), call.receiveAt(rank), bytes);
      in.at(rank).receive(message).end();
    }
  }

  private void exchangeAll(long bytes) {
    int count = members.size();
    for (int distance = 1; distance < count; distance *= 2) {
      List<Message> sent = new ArrayList<>();
      for (int place = 0; place < count; place++) {
        int rank = members.get(place);
        sent.add(in.at(rank).send(members.get(place ^ distance), partial[rank], bytes));
      }
      for (int place = 0; place < count; place++) {
        int rank = members.get(place);
        boolean last = 2 * distance == count;
        long into = last ? call.receiveAt(rank) : in.scratch(rank, bytes);
        in.at(rank).reduce(sent.get(place ^ distance), partial[rank], into).end();
        partial[rank] = into;
      }
    }
  }

  /**
   * Members exchange halves of what they are still to reduce, until each has one segment, that of
   * its place. What is reduced lies in the receive buffer.
   */
  private void halve(Segments segments, int from, int to) {
    int half = (to - from) / 2;
    if (half == 0) {
      return;
    }
    List<Exchange> exchanges = new ArrayList<>();
    int middle = from + half;
    for (int place = from; place < middle; place++) {
      exchanges.add(
          new Exchange(
              part(place + half, place, segments, from, middle),
              part(place, place + half, segments, middle, to)));
    }
    for (int place = from; place < middle; place++) {
      Exchange exchange = exchanges.get(place - from);
      reduce(place, exchange.toFirst, segments.from(from));
      reduce(place + half, exchange.toSecond, segments.from(middle));
    }
    halve(segments, from, middle);
    halve(segments, middle, to);
  }

  private Message part(int fromPlace, int toPlace, Segments segments, int first, int end) {
    long at = segments.from(first);
    int rank = members.get(fromPlace);
    return in.at(rank).send(members.get(toPlace), partial[rank] + at, segments.from(end) - at);
  }

  private void reduce(int place, Message message, long at) {
    int rank = members.get(place);
    in.at(rank).reduce(message, partial[rank] + at, call.receiveAt(rank) + at).end();
    partial[rank] = call.receiveAt(rank);
  }

  /** Members exchange what they have, twice as much in each round. */
  private void twice(Segments segments, int distance) {
    int count = members.size();
    for (int apart = distance; apart < count; apart *= 2) {
      List<Message> sent = new ArrayList<>();
      for (int place = 0; place < count; place++) {
        int first = place / apart * apart;
        long at = segments.from(first);
        long bytes = segments.from(first + apart) - at;
        int rank = members.get(place);
        int peer = members.get(place ^ apart);
        sent.add(
            in.at(rank).put(peer, call.receiveAt(rank) + at, call.receiveAt(peer) + at, bytes));
      }
      for (int place = 0; place < count; place++) {
        in.at(members.get(place)).receive(sent.get(place ^ apart)).end();
      }
    }
  }

  private void reduceScatter() {
    int ranks = call.ranks();
    long block = call.block();
    long[] from = new long[ranks]; // where block 0 of what a rank has would be
    for (int rank = 0; rank < ranks; rank++) {
      from[rank] = call.sendAt(rank);
    }
    for (int half = ranks / 2; half > 0; half /= 2) {
      List<Message> sent = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        int peer = rank ^ half;
        int first = peer / half * half;
        sent.add(in.at(rank).send(peer, from[rank] + first * block, half * block));
      }
      for (int rank = 0; rank < ranks; rank++) {
        int first = rank / half * half;
        long own = from[rank] + first * block;
        long into = half == 1 ? call.receiveAt(rank) : in.scratch(rank, half * block);
        in.at(rank).reduce(sent.get(rank ^ half), own, into).end();
        from[rank] = into - first * block;
      }
    }
  }

  private void allGather() {
    int ranks = call.ranks();
    for (int rank = 0; rank < ranks; rank++) {
      members.add(rank);
      Direct.keepOwn(call, in, rank, 0, rank * call.block());
    }
    twice(new Segments(call.receiveBytes(), ranks), 1);
  }
}
