/** Shows how many CPUs a Java program sees, then stays so many seconds. */
public class Hello {
	public static void main(String[] arguments) throws InterruptedException {
		System.out.println("processors=" + Runtime.getRuntime().availableProcessors());
		System.out.println("ready");
		Thread.sleep(1000L * (arguments.length > 0 ? Integer.parseInt(arguments[0]) : 0));
	}
}
