/**
 * A network in virtual time whose queues can be seen to fill: cables with impairments, and a switch
 * with a shared buffer, ECN marking and PFC pause. For experiments on congestion, which need more
 * of a network than a wire that never loses, and less than a network simulator.
 */
@NullMarked
package dev.doorbell.push.network;

import org.jspecify.annotations.NullMarked;
