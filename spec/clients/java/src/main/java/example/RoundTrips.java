package example;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Object;
import software.amazon.awssdk.services.s3.model.Tag;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;
import software.amazon.awssdk.transfer.s3.S3TransferManager;

/** The AWS SDK for Java 2: the client, the one without waiting, its transfer manager and its presigner. */
public final class RoundTrips {
  private static final int MIB = 1 << 20;

  private final String endpoint;
  private final String bucket;
  private final boolean all;
  private final StaticCredentialsProvider keys;
  private final byte[] data = sample(20 * MIB + 1);

  private RoundTrips(String[] words) {
    endpoint = words[0];
    keys = StaticCredentialsProvider.create(AwsBasicCredentials.create(words[1], words[2]));
    bucket = words[3];
    all = words[4].equals("extended");
  }

  public static void main(String[] words) throws Exception {
    new RoundTrips(words).run();
    check("end", "true", "true", true);
    System.exit(0);
  }

  private void run() throws Exception {
    var byDefault = S3Client.builder().endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1).credentialsProvider(keys)
        .forcePathStyle(true).build();
    var plain = S3Client.builder().endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1).credentialsProvider(keys)
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .serviceConfiguration(S3Configuration.builder().pathStyleAccessEnabled(true).chunkedEncodingEnabled(false).build()).build();
    where(all, "put by default", () -> {
      byDefault.putObject(r -> r.bucket(bucket).key("one"), RequestBody.fromString("bytes"));
      return read(byDefault, "one");
    }, digest("bytes".getBytes()), "s3.profile=compatible");
    where(true, "put with the settings of the refusal", () -> {
      plain.putObject(r -> r.bucket(bucket).key("one"), RequestBody.fromString("bytes"));
      return read(plain, "one");
    }, digest("bytes".getBytes()), "");
    where(all, "a stream", () -> {
      byDefault.putObject(r -> r.bucket(bucket).key("stream"),
          RequestBody.fromInputStream(new ByteArrayInputStream(data), data.length));
      return read(byDefault, "stream");
    }, digest(data), "s3.profile=compatible");
    where(true, "a stream with the settings of the refusal", () -> {
      plain.putObject(r -> r.bucket(bucket).key("stream"),
          RequestBody.fromInputStream(new ByteArrayInputStream(data), data.length));
      return read(plain, "stream");
    }, digest(data), "");
    where(true, "a range", () -> digest(plain.getObjectAsBytes(r -> r.bucket(bucket).key("one").range("bytes=1-3")).asByteArray()),
        digest("yte".getBytes()), "");
    where(true, "a copy", () -> {
      plain.copyObject(r -> r.sourceBucket(bucket).sourceKey("stream").destinationBucket(bucket).destinationKey("copy"));
      return read(plain, "copy");
    }, digest(data), "");
    where(false, "created once", () -> {
      plain.putObject(r -> r.bucket(bucket).key("one").ifNoneMatch("*"), RequestBody.fromString("x"));
      return "done";
    }, "", "412");
    parts();
    links();
    where(all, "tags", () -> {
      plain.putObjectTagging(r -> r.bucket(bucket).key("one").tagging(t -> t.tagSet(Tag.builder().key("a").value("b c").build())));
      return plain.getObjectTagging(r -> r.bucket(bucket).key("one")).tagSet().get(0).value();
    }, "b c", "not supported");
    var present = all ? List.of("copy", "manager", "one", "parts", "stream") : names(plain);
    where(true, "keys", () -> String.join(" ", names(plain)), String.join(" ", present), "");
    where(all, "a batch deleted", () -> {
      var objects = present.stream().map(key -> ObjectIdentifier.builder().key(key).build()).toList();
      plain.deleteObjects(r -> r.bucket(bucket).delete(d -> d.objects(objects)));
      return String.join(" ", names(plain));
    }, "", "DeleteObjects is not supported");
  }

  /**
   * Parts that the client without waiting makes by itself, and those of the transfer manager on it. Which of its failures it
   * reports depends on their order.
   */
  private void parts() throws Exception {
    try (var async = S3AsyncClient.builder().endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1)
            .credentialsProvider(keys).forcePathStyle(true).multipartEnabled(true).build();
        var manager = S3TransferManager.builder().s3Client(async).build()) {
      where(all, "parts", () -> {
        async.putObject(r -> r.bucket(bucket).key("parts"), AsyncRequestBody.fromBytes(data)).join();
        ResponseBytes<GetObjectResponse> read =
            async.getObject(r -> r.bucket(bucket).key("parts"), software.amazon.awssdk.core.async.AsyncResponseTransformer.toBytes()).join();
        return digest(read.asByteArray());
      }, digest(data), "");
      ExecutorService threads = Executors.newSingleThreadExecutor();
      where(all, "the transfer manager", () -> {
        var body = AsyncRequestBody.fromInputStream(new ByteArrayInputStream(data), null, threads);
        manager.upload(u -> u.requestBody(body).putObjectRequest(r -> r.bucket(bucket).key("manager"))).completionFuture().join();
        ResponseBytes<GetObjectResponse> read =
            async.getObject(r -> r.bucket(bucket).key("manager"), software.amazon.awssdk.core.async.AsyncResponseTransformer.toBytes()).join();
        return digest(read.asByteArray());
      }, digest(data), "");
      threads.shutdown();
    }
  }

  private void links() throws Exception {
    try (var presigner = S3Presigner.builder().endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1)
        .credentialsProvider(keys).serviceConfiguration(S3Configuration.builder().pathStyleAccessEnabled(true).build()).build()) {
      where(true, "a link", () -> {
        var link = presigner.presignGetObject(p -> p.signatureDuration(Duration.ofMinutes(1)).getObjectRequest(r -> r.bucket(bucket).key("one")));
        var answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(link.url().toURI()).build(), HttpResponse.BodyHandlers.ofString());
        return answer.body();
      }, "bytes", "");
    }
  }

  private List<String> names(S3Client client) {
    return client.listObjectsV2Paginator(r -> r.bucket(bucket).maxKeys(2)).contents().stream().map(S3Object::key).toList();
  }

  private String read(S3Client client, String key) {
    return digest(client.getObjectAsBytes(r -> r.bucket(bucket).key(key)).asByteArray());
  }

  /** A call that works where `works` says so, and elsewhere fails with this word in what it says. */
  private static void where(boolean works, String name, Callable<String> call, String expected, String word) throws Exception {
    try {
      check(name, call.call(), expected, works);
      if (!works) check(name, "no error", word, true);
    } catch (RuntimeException error) {
      var cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
      var said = String.valueOf(cause);
      if (works) check(name, said, expected, true);
      else check(name, said.contains(word) ? word : said, word, true);
    }
  }

  private static void check(String name, String got, String expected, boolean isShown) {
    if (isShown) System.out.printf("{\"name\":%s,\"got\":%s,\"expected\":%s}%n", quoted(name), quoted(got), quoted(expected));
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ").replace("\r", " ") + '"';
  }

  private static byte[] sample(int count) {
    var buffer = ByteBuffer.allocate(count + 8);
    for (long index = 0; buffer.remaining() >= 8; index++) buffer.putLong(index);
    return java.util.Arrays.copyOf(buffer.array(), count);
  }

  private static String digest(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (java.security.NoSuchAlgorithmException error) {
      throw new IllegalStateException(error);
    }
  }
}
