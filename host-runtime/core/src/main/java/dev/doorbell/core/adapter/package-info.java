/**
 * Promises of HCAs: in which order writes are placed, what an atomic or a fence waits for, what a
 * completion says about visibility. A promise never costs time, and a price never orders anything.
 *
 * <p>Each adapter of the project is a properties file beside {@link
 * dev.doorbell.core.adapter.Adapters}, with a source for each promise.
 */
@NullMarked
package dev.doorbell.core.adapter;

import org.jspecify.annotations.NullMarked;
