/**
 * Queue pairs and DC targets, each of a {@code requester} and a {@code responder}, and the engine
 * that runs them in turns.
 *
 * <p>{@link dev.doorbell.softhca.queuepair.HcaObjects} is what exists on one HCA, by number. A
 * queue pair takes its work requests from its ring, or from a {@link
 * dev.doorbell.softhca.queuepair.SoftQueuePair.FrontEnd}.
 */
@NullMarked
package dev.doorbell.softhca.queuepair;

import org.jspecify.annotations.NullMarked;
