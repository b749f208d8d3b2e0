/**
 * The sending half of a queue pair: WQEs are fetched, decoded, turned into packets, and completed
 * in order; go-back-N retransmission for reliable connections.
 */
@NullMarked
package dev.doorbell.softhca.requester;

import org.jspecify.annotations.NullMarked;
